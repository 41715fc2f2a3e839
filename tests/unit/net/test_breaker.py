"""A dead host gets no requests, which costs no attempt, and is found alive again."""

import asyncio
import errno
from random import Random

import msgspec
import pytest

from headgate.core.call import CallKind
from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.gates.breaker import Breaker, BreakerPolicy, BreakerState
from headgate.core.provider import InlineRetry, ProviderPolicy
from headgate.net.breaker import BreakerOpen, Breakers
from headgate.net.failure import FailureKind, WireFailure
from headgate.ports.gate import HostTrouble
from headgate.testing import FakeClock
from tests.kit.answers import Answer, always, in_turn
from tests.kit.http import ALICE, Bench, Heard, bench
from tests.kit.provider import Provider, wait_until

ONCE = {"p": ProviderPolicy(retry=InlineRetry(retries=0))}
POLICY = BreakerPolicy(failures=3, cooldown_s=1.0, cooldown_factor=2.0, cooldown_cap_s=30.0)


async def fault(cli: Bench, provider: Provider) -> Fault:
    with pytest.raises(AttemptOver) as caught:
        await cli.client("p").get(provider.url())
    assert isinstance(caught.value.ending, Fault)
    return caught.value.ending


async def test_a_provider_that_is_dead_for_a_minute(provider: Provider):
    clock = FakeClock()
    async with bench(ONCE, breakers=POLICY, clock=clock) as cli:
        await cli.client("p").get(provider.url())
        provider.stop()
        for _ in range(3):
            assert (await fault(cli, provider)).kind is FaultClass.THROTTLED  # nothing was sent
        trials, waited = 0, 0.0
        while waited < 60.0:
            turned_away = await fault(cli, provider)
            assert turned_away.kind is FaultClass.THROTTLED  # no attempt is burnt for waiting
            assert turned_away.retry_after_s is not None
            assert 0.0 < turned_away.retry_after_s <= 30.0
            await clock.advance(turned_away.retry_after_s + 0.001)
            waited += turned_away.retry_after_s
            assert (await fault(cli, provider)).kind is FaultClass.THROTTLED  # the trial
            trials += 1
        assert trials < 20
        provider.start()
        await clock.advance(30.0)
        assert (await cli.client("p").get(provider.url())).text == "hello"
        assert cli.stack.breakers.troubled == {}
        assert (await cli.client("p").get(provider.url())).text == "hello"


async def test_a_dead_host_uses_no_permit(provider: Provider):
    provider.stop()
    async with bench(ONCE, breakers=POLICY, clock=FakeClock()) as cli:
        for _ in range(5):
            await fault(cli, provider)
        assert len(cli.gates.permits) == 3
    assert [call.kind for call in cli.calls] == [CallKind.FAILED] * 5
    assert "does not answer" in cli.calls[-1].cause


async def test_errors_of_the_server_count_and_other_answers_do_not(provider: Provider):
    async with bench(ONCE, breakers=POLICY, clock=FakeClock()) as cli:
        for status in (404, 400, 401, 304):
            provider.script = always(Answer(status))
            for _ in range(4):
                await cli.client("p").get(provider.url())
        assert cli.stack.breakers.troubled == {}
        provider.script = always(Answer(502))
        for _ in range(3):
            await cli.client("p").get(provider.url())
        [host] = cli.stack.breakers.troubled
    assert host == f"127.0.0.1:{provider.port}"


async def test_a_breaker_that_opens_meanwhile_does_not_hide_what_was_answered(provider: Provider):
    provider.script = always(Answer(502))
    policy = {"p": ProviderPolicy(retry=InlineRetry(retries=5, base_s=0.0))}
    at_once = BreakerPolicy(failures=1)
    async with bench(policy, breakers=at_once, clock=FakeClock()) as cli:
        answer = await cli.client("p").get(provider.url())
        assert cli.stack.breakers.troubled
    assert answer.status_code == 502, "the item has had an attempt, and not a wait"
    assert len(provider.seen) == 1


async def test_a_dead_host_does_not_stop_another(provider: Provider):
    provider.script = always(Answer(502))
    async with bench(ONCE, breakers=POLICY, clock=FakeClock()) as cli:
        for _ in range(3):
            await cli.client("p").get(provider.url())
        await fault(cli, provider)
        provider.script = always(Answer(200))
        answer = await cli.client("p").get(provider.url(host="localhost"))
    assert answer.status_code == 200


async def test_one_trial_at_a_time_and_another_if_it_is_abandoned(provider: Provider):
    clock = FakeClock()
    provider.script = always(Answer(502))
    async with bench(ONCE, breakers=POLICY, clock=clock) as cli:
        for _ in range(3):
            await cli.client("p").get(provider.url())
        # The server may notice late that these answers have ended.
        await asyncio.to_thread(wait_until, lambda: not provider.under_way())
        await clock.advance(2.0)
        provider.script = always(Answer(silent=True))
        trial = asyncio.create_task(cli.client("p").get(provider.url()))
        await asyncio.to_thread(wait_until, provider.under_way)
        assert (await fault(cli, provider)).kind is FaultClass.THROTTLED
        assert provider.under_way() == 1
        trial.cancel()
        await asyncio.wait([trial])
        provider.script = always(Answer(200, body=b"hello"))
        assert (await cli.client("p").get(provider.url())).text == "hello"


async def test_a_refusal_shows_that_the_host_lives(provider: Provider):
    clock = FakeClock()
    async with bench(ONCE, breakers=POLICY, clock=clock) as cli:
        provider.script = always(Answer(502))
        for _ in range(3):
            await cli.client("p").get(provider.url())
        await clock.advance(2.0)
        provider.script = always(Answer(429))
        assert (await fault(cli, provider)).kind is FaultClass.THROTTLED
        assert cli.stack.breakers.troubled == {}


def refuse(breakers: Breakers, breaker: Breaker) -> None:
    """A request of a.example finds that nothing listens there."""
    number = breakers.admit("a.example", breaker, ALICE)
    failure = WireFailure(FailureKind.CONNECT, "no", sent=False, number=errno.ECONNREFUSED)
    breakers.unanswered("a.example", breaker, number, ALICE, failure)


async def test_a_request_that_loses_the_race_for_the_test_request_is_refused():
    clock = FakeClock()
    async with bench(ONCE, breakers=POLICY, clock=clock) as cli:
        breakers = cli.stack.breakers
        breaker = breakers.of("a.example")
        for _ in range(3):
            refuse(breakers, breaker)
        await clock.advance(2.0)
        breakers.check("a.example", breaker, ALICE)
        breakers.admit("a.example", breaker, ALICE)
        assert breaker.state is BreakerState.HALF_OPEN
        with pytest.raises(BreakerOpen):
            breakers.admit("a.example", breaker, ALICE)


async def test_the_breaker_reports_when_a_host_stops_and_resumes_answering():
    clock, heard = FakeClock(), Heard()
    breakers = Breakers(POLICY, clock, Random(1), heard)
    breaker = breakers.of("a.example")
    for _ in range(3):
        refuse(breakers, breaker)
    wait_s = breaker.wait_s(clock.monotonic())
    assert heard.news == [("a.example", HostTrouble(wait_s, "connection refused"), ALICE.job_id)]
    await clock.advance(wait_s)
    number = breakers.admit("a.example", breaker, ALICE)
    breakers.succeeded("a.example", breaker, number)
    assert heard.news[-1] == "a.example"


async def test_hosts_without_end_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Breakers, "MOST", 3)
    async with bench() as cli:
        breakers = cli.stack.breakers
        first = breakers.of("0.example")
        for number in range(1, 4):
            breakers.of(f"{number}.example")
        assert breakers.of("3.example") is breakers.of("3.example")
        assert breakers.of("0.example") is not first


MANY = {"p": ProviderPolicy(retry=InlineRetry(retries=2, base_s=0.0))}


async def test_rows_that_were_tried_before_do_not_speak_against_the_host(provider: Provider):
    provider.script = always(Answer(502))
    async with bench(ONCE, breakers=POLICY, clock=FakeClock()) as cli:
        for _ in range(20):
            await cli.client("p", again=True).get(provider.url())
        assert cli.stack.breakers.troubled == {}


async def test_a_row_counts_once_even_if_its_request_is_repeated(provider: Provider):
    provider.script = always(Answer(502))
    async with bench(MANY, breakers=POLICY, clock=FakeClock()) as cli:
        client = cli.client("p")
        for _ in range(10):
            await client.get(provider.url())
        assert cli.stack.breakers.troubled == {}
    assert len(provider.seen) > 10


async def test_repetitions_stop_for_a_while_if_they_do_not_help(provider: Provider):
    provider.script = always(Answer(500))
    clock = FakeClock()
    async with bench(MANY, clock=clock) as cli:
        for _ in range(20):
            await cli.client("p").get(provider.url())
        assert len(provider.seen) == 20 + Breaker.REPEATS
        provider.script = in_turn(Answer(500), Answer(200), *[Answer(500), Answer(200)] * 5)
        await clock.advance(61.0)
        for _ in range(6):
            assert (await cli.client("p").get(provider.url())).status_code == 200, "it helps again"


async def test_rows_of_a_host_that_never_answered_end_before_long(provider: Provider):
    provider.stop()
    clock = FakeClock()
    async with bench(ONCE, clock=clock) as cli:
        kinds, waited = [], 0.0
        while not kinds or kinds[-1] is not FaultClass.STALLED:
            found = await fault(cli, provider)
            kinds.append(found.kind)
            wait_s = (found.retry_after_s or 0.0) + 0.001
            await clock.advance(wait_s)
            waited += wait_s
        assert waited < 120.0
        assert set(kinds) == {FaultClass.TRANSIENT, FaultClass.THROTTLED, FaultClass.STALLED}
        assert "does not answer (connection refused)" in found.reason
        assert "gave up after" in found.reason


async def test_rows_wait_for_a_host_that_another_process_has_seen_alive(provider: Provider):
    class Ledger(Heard):
        def has_answered(self, host: str) -> bool:
            return True

    provider.stop()
    clock, hosts = FakeClock(), Ledger()
    async with bench(ONCE, clock=clock, hosts=hosts) as cli:
        waited = 0.0
        while (found := await fault(cli, provider)).kind is FaultClass.THROTTLED:
            assert found.retry_after_s is not None
            await clock.advance(found.retry_after_s + 0.001)
            waited += found.retry_after_s
        assert found.kind is FaultClass.STALLED
        assert 1_700.0 < waited < 1_900.0
        assert "after 30 min" in found.reason
        assert hosts.news[-1][1].gave_up
        provider.start()
        await clock.advance(60.0)
        assert (await cli.client("p").get(provider.url())).text == "hello"
        assert hosts.news[-1] == f"127.0.0.1:{provider.port}"


async def test_in_doubt_only_a_row_from_elsewhere_in_the_input_is_sent():
    clock = FakeClock()
    breakers = Breakers(BreakerPolicy(), clock, Random(1))
    breaker = breakers.of("api.example")
    while not breaker.in_doubt:
        breakers.answered_badly("api.example", breaker, breaker.epoch, ALICE, 500)
    await clock.advance(Breaker.PAUSE_S)
    with pytest.raises(BreakerOpen):
        breakers.check("api.example", breaker, ALICE)
    with pytest.raises(BreakerOpen):
        breakers.admit("api.example", breaker, ALICE)
    elsewhere = msgspec.structs.replace(ALICE, elsewhere=True)
    breakers.check("api.example", breaker, elsewhere)
    number = breakers.admit("api.example", breaker, elsewhere)
    breakers.succeeded("api.example", breaker, number)
    assert breakers.troubled == {}
