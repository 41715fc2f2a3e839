"""A request is repeated immediately within a small budget; after that the item goes back."""

import asyncio
from random import Random

import pytest

from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.provider import InlineRetry, ProviderPolicy
from headgate.net.failure import FailureKind, Repeats, RequestRefused, WireFailure
from headgate.testing import FakeClock
from tests.kit.answers import Answer, always, in_turn
from tests.kit.http import Bench, bench
from tests.kit.provider import Provider

POLICY = ProviderPolicy(
    retry=InlineRetry(retries=2, budget_s=10.0, base_s=1.0, factor=4.0), patience_s=30.0
)
UNSENT = WireFailure(FailureKind.CONNECT, "no connection", sent=False)
SENT = WireFailure(FailureKind.CUT, "cut", sent=True)


class Longest(Random):
    def uniform(self, a: float, b: float) -> float:
        return b


def repeats(method: str = "GET", policy: ProviderPolicy = POLICY) -> Repeats:
    return Repeats(method, policy, 100.0, Longest())


def test_waits_grow_until_the_repetitions_are_spent():
    budget = repeats()
    assert budget.after(SENT, 100.0) == 1.0
    assert budget.after(SENT, 101.0) == 4.0
    assert budget.after(SENT, 105.0) is None


def test_a_wait_is_drawn_evenly_from_nothing_to_its_longest():
    waits = [Repeats("GET", POLICY, 0.0, Random(n)).after(SENT, 0.0) or 0.0 for n in range(1_000)]
    assert min(waits) < 0.01
    assert max(waits) > 0.99
    assert 0.45 < sum(waits) / 1_000 < 0.55


def test_nothing_is_repeated_after_the_budget_of_time():
    assert repeats().after(SENT, 109.5) is None
    assert repeats().after(SENT, 109.0) == 1.0


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])
def test_a_safe_request_is_repeated(method: str):
    assert repeats(method).after(SENT, 100.0) == 1.0
    assert repeats(method).after_status(500, 100.0) == 1.0


@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_a_request_that_the_service_may_have_acted_on_is_not_repeated(method: str):
    assert repeats(method).after(SENT, 100.0) is None
    assert repeats(method).after_status(500, 100.0) is None
    assert repeats(method).after(UNSENT, 100.0) == 1.0
    assert repeats(method).after(RequestRefused("p", 429, 5.0), 100.0) == 0.0


@pytest.mark.parametrize("status", [400, 401, 404, 410, 422])
def test_an_answer_is_not_a_failure(status: int):
    assert repeats().after_status(status, 100.0) is None


def test_a_refusal_waits_at_the_gate_as_long_as_patience_lasts():
    budget = repeats()
    assert budget.after(RequestRefused("p", 429, 30.1), 100.0) is None
    assert budget.after(RequestRefused("p", 429, 30.0), 100.0) == 0.0
    assert budget.after(RequestRefused("p", 429, 0.0), 100.0) == 0.0
    assert budget.after(RequestRefused("p", 429, 0.0), 100.0) is None


async def through_waits(clock: FakeClock, work: "asyncio.Task[object]") -> None:
    """Let time pass whenever the client waits."""
    while not work.done():
        asleep = asyncio.create_task(clock.until_asleep())
        await asyncio.wait([asleep, work], return_when=asyncio.FIRST_COMPLETED)
        asleep.cancel()
        if not work.done():
            await clock.advance(5.0)


async def fetched(cli: Bench, clock: FakeClock, provider: Provider) -> object:
    work = asyncio.create_task(cli.client("p").get(provider.url()))
    await through_waits(clock, work)
    return work.result()


@pytest.mark.parametrize(
    "bad",
    [Answer(500), Answer(503), Answer(408), Answer(hang_up=True), Answer(200, body=b"a", cut_at=0)],
)
async def test_a_passing_failure_is_not_seen_by_the_handler(provider: Provider, bad: Answer):
    provider.script = in_turn(bad, bad, bad, Answer(200, body=b"hello"))
    clock = FakeClock()
    # aiohttp itself repeats once what found a stale connection, so one more is allowed for.
    policy = ProviderPolicy(retry=InlineRetry(retries=3, budget_s=60.0))
    async with bench({"p": policy}, clock=clock) as cli:
        answer = await fetched(cli, clock, provider)
    assert getattr(answer, "text", None) == "hello"


async def test_after_the_last_repetition_the_answer_is_returned(provider: Provider):
    provider.script = always(Answer(500, body=b"sorry"))
    clock = FakeClock()
    async with bench({"p": POLICY}, clock=clock) as cli:
        answer = await fetched(cli, clock, provider)
        with pytest.raises(AttemptOver) as caught:
            answer.raise_for_status()  # type: ignore[attr-defined]
    assert isinstance(caught.value.ending, Fault)
    assert caught.value.ending.kind is FaultClass.TRANSIENT
    assert [call.status for call in cli.calls] == [500] * 3


async def test_beyond_the_budget_a_failure_ends_the_attempt(provider: Provider):
    provider.stop()
    clock = FakeClock()
    async with bench({"p": POLICY}, clock=clock) as cli:
        with pytest.raises(AttemptOver, match="no connection") as caught:
            await fetched(cli, clock, provider)
    assert isinstance(caught.value.ending, Fault)
    assert caught.value.ending.kind is FaultClass.TRANSIENT
    assert len(cli.calls) == 3


async def test_a_post_is_sent_once(provider: Provider):
    provider.script = always(Answer(500))
    async with bench({"p": POLICY}) as cli:
        assert (await cli.client("p").post(provider.url(), json={})).status_code == 500
    assert len(provider.seen) == 1


async def test_a_streamed_answer_is_repeated_until_its_head_is_there(provider: Provider):
    provider.script = in_turn(Answer(500), Answer(200, body=b"hello"))
    clock = FakeClock()

    async def stream(cli: Bench) -> bytes:
        async with cli.client("p").stream("GET", provider.url()) as answer:
            return await answer.aread()

    async with bench({"p": POLICY}, clock=clock) as cli:
        work = asyncio.create_task(stream(cli))
        await through_waits(clock, work)
    assert work.result() == b"hello"
    assert all(permit.released for permit in cli.gates.permits)
