"""A provider refuses, dies, changes its limit, and sends false headers."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from headgate.core.status import ItemStatus
from headgate.engine.gates.sync import LedgerSync
from headgate.ports.reads import AttemptRow
from tests.faults.matrix import FULL_SIZE
from tests.kit.answers import Answer, Bucket, Request, Script, refusal
from tests.kit.command import until
from tests.kit.fleet import Fleet, fleet
from tests.kit.project import Project
from tests.kit.provider import Provider

HANDLERS = Path(__file__).with_name("fetching.py")
DEAD = Answer(hang_up=True)


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as provider:
        yield provider


@pytest.fixture(autouse=True)
def no_ledger_is_lost_to_a_busy_machine(monkeypatch: pytest.MonkeyPatch):
    """In virtual time a ledger answers at once, however long that takes."""
    monkeypatch.setattr(LedgerSync, "PATIENCE_S", 60.0)


# ---- in virtual time: processes that share a limit through a real ledger ------------------------


async def calm(running: Fleet, per_s: float = 20.0) -> Bucket:
    """A limit that has been found, so that only what comes next is a surprise."""
    limit = Bucket(per_s, 5, time_s=running.time)
    running.script = limit
    await running.run(20)
    assert running.delivered(10, 20) > 0.7 * per_s
    return limit


@pytest.mark.parametrize(
    "told",
    [None, "0", "-5", "31536000", "Mon, 01 Jan 2001 00:00:00 GMT", "soon", "3"],
    ids=["nothing", "zero", "negative", "a year", "the past", "garbage", "the truth"],
)
async def test_a_storm_of_refusals_is_met_by_silence(tmp_path: Path, told: str | None):
    """Whatever the refusals say: a few requests ask whether it is over, and then all goes on."""
    async with fleet(tmp_path, 2, lanes=8, longest_wait_s=15.0) as running:
        limit = await calm(running)
        running.script = lambda _: refusal(told)
        await running.run(20)
        assert running.refused(20, 40) <= 12  # sixteen lanes would have sent hundreds
        running.script = limit
        await running.run(60)
    assert running.refused(40) <= 5
    # The longer it is refused, the more rarely it asks: up to 1.4 times as long once more.
    assert running.delivered(70, 90) > 4.0


async def test_a_limit_that_halves_is_followed_down(tmp_path: Path):
    async with fleet(tmp_path, lanes=8) as running:
        limit = await calm(running)
        limit.per_s = 10.0
        await running.run(40)
    assert running.refused(20, 40) <= 15
    assert running.refused(40, 60) <= 5
    assert running.delivered(40, 60) > 8.0


async def test_a_limit_that_quadruples_is_followed_up(tmp_path: Path):
    async with fleet(tmp_path, 2, lanes=8) as running:
        limit = await calm(running, per_s=10.0)
        limit.per_s = 40.0
        await running.run(80)
    assert running.delivered(90, 100) > 30.0
    assert running.refused(20) <= 20


def telling(told: float, limit: Bucket) -> Bucket:
    """The same limit, with headers that name another."""
    headers = [("RateLimit-Policy", f'"d";q={told:g};w=1'), ("RateLimit", f'"d";r={told:g};t=1')]
    limit.answer, limit.refused = Answer(200, headers), refusal(headers=headers)
    return limit


async def test_headers_that_promise_too_much_are_not_believed_for_long(tmp_path: Path):
    async with fleet(tmp_path, 2, lanes=8) as running:
        running.script = telling(200, Bucket(10, 5, time_s=running.time))
        await running.run(60)
    assert running.refused(0, 20) <= 30
    assert running.refused(20) <= 6
    assert running.delivered(20, 60) > 8.0


async def test_headers_that_promise_too_little_are_kept_to(tmp_path: Path):
    """It is the provider's word: slower than need be, but neither stopped nor refused."""
    async with fleet(tmp_path, 2, lanes=8) as running:
        running.script = telling(2, Bucket(20, 5, time_s=running.time))
        await running.run(40)
    assert running.refused() == 0
    assert 1.5 < running.delivered(10, 40) <= 2.1


async def test_nothing_left_until_next_year_is_not_waited_for(tmp_path: Path):
    headers = [("RateLimit-Policy", '"d";q=60;w=60'), ("RateLimit", '"d";r=0;t=31536000')]
    async with fleet(tmp_path, 2, lanes=8, longest_wait_s=20.0) as running:
        running.script = lambda _: Answer(200, headers)
        await running.run(50)
    assert running.arrivals(40), "the gate stayed shut"
    assert len(running.seen) < 60


# ---- real processes ----------------------------------------------------------------------------


class Storm:
    """A limit; after a number of requests it refuses a number of them."""

    def __init__(self, limit: Script, after: int, refusals: int) -> None:
        self._limit = limit
        self._after = after
        self._refusals = refusals

    def __call__(self, request: Request) -> Answer:
        if self._after > 0:
            self._after -= 1
        elif self._refusals > 0:
            self._refusals -= 1
            return refusal()
        return self._limit(request)


def test_a_storm_of_429_costs_no_attempts(project: Project, provider: Provider):
    provider.script = Storm(Bucket(100, 20), after=30, refusals=4)
    file = project.rows(60)
    words = project.batch(f"{HANDLERS}:fetch", file, "--processes", "2", url=provider.url(""))
    ended = project.run(*words)

    assert ended.code == 0, ended.err
    items = project.assert_finished(60)
    assert {(item.status, item.attempts) for item in items} == {(ItemStatus.DONE, 1)}
    statuses = [seen.status for seen in provider.seen]
    assert statuses.count(200) == 60
    assert 4 <= statuses.count(429) <= 16


class Outage(NamedTuple):
    """How long a provider is dead, and what is set for that."""

    settings: dict[str, object]
    requests: int
    """As many must have been tried in vain."""
    seconds: float


SHORT = Outage({"breaker__cooldown_s": 0.05, "breaker__cooldown_cap_s": 0.4}, 20, 0.0)
FULL = Outage({}, 12, 60.0)


@pytest.mark.parametrize(
    "outage",
    [pytest.param(SHORT, id="short"), pytest.param(FULL, marks=FULL_SIZE, id="a minute")],
)
def test_a_dead_provider_costs_no_attempt_for_waiting(
    sqlite_project: Project, provider: Provider, outage: Outage
):
    """The breaker opens, lets out one trial after the other, and closes with the first answer."""
    project = sqlite_project
    file = project.rows(100)
    words = project.batch(f"{HANDLERS}:fetch", file, url=provider.url(""))
    # A trial that fails is an attempt, and some row may be the trial more often than others.
    patient = {"retry__max_attempts_error": 20, "breaker__failures": 5}
    with project.start(*words, **patient, **outage.settings) as command:
        until(lambda: len(provider.seen) >= 15, what="the first answers")
        provider.script = lambda _: DEAD
        died_s, before = time.monotonic(), len(provider.seen)
        until(
            lambda: (
                len(provider.seen) - before >= outage.requests
                and time.monotonic() - died_s >= outage.seconds
            ),
            what="an outage that lasts",
        )
        provider.script = lambda _: Answer(200, body=b"hello")
        ended = command.wait()

    assert ended.code == 0, ended.err
    items = project.assert_finished(100)
    assert {item.status for item in items} == {ItemStatus.DONE}
    histories = project.attempts(items)
    turned_away = [
        attempt for history in histories.values() for attempt in history if was_turned_away(attempt)
    ]
    assert turned_away, "the breaker never opened"
    assert {attempt.outcome for attempt in turned_away} == {"throttled"}
    counted = {
        key: sum(attempt.outcome != "throttled" for attempt in history)
        for key, history in histories.items()
    }
    assert {item.key: item.attempts for item in items} == counted


def was_turned_away(attempt: AttemptRow) -> bool:
    """Whether the last thing it heard was that the host is left alone."""
    calls = msgspec.json.decode(attempt.calls) if attempt.calls else []
    return bool(calls) and "the next try is in" in str(calls[-1])
