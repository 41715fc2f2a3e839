"""A host that is dead is left alone, which costs nobody an attempt, and found alive again."""

import asyncio
from random import Random

import pytest

from headgate.core.breaker import BreakerPolicy, BreakerState
from headgate.core.call import CallKind
from headgate.core.ending import AttemptOver
from headgate.core.fault import Fault, FaultClass
from headgate.core.provider import InlineRetry, ProviderPolicy
from headgate.net.breaker import BreakerOpen, Breakers
from headgate.testing import FakeClock
from tests.kit.answers import Answer, always
from tests.kit.http import Bench, bench
from tests.kit.provider import Provider, wait_until

ONCE = {"p": ProviderPolicy(retry=InlineRetry(retries=0))}
POLICY = BreakerPolicy(failures=3, cooldown_s=1.0, cooldown_factor=2.0, cooldown_cap_s=30.0)


async def fault(desk: Bench, provider: Provider) -> Fault:
    with pytest.raises(AttemptOver) as caught:
        await desk.client("p").get(provider.url())
    assert isinstance(caught.value.ending, Fault)
    return caught.value.ending


async def test_a_provider_that_is_dead_for_a_minute(provider: Provider):
    clock = FakeClock()
    async with bench(ONCE, breakers=POLICY, clock=clock) as desk:
        await desk.client("p").get(provider.url())
        provider.down()
        for _ in range(3):
            assert (await fault(desk, provider)).kind is FaultClass.TRANSIENT
        trials, waited = 0, 0.0
        while waited < 60.0:
            turned_away = await fault(desk, provider)
            assert turned_away.kind is FaultClass.THROTTLED  # no attempt is burnt for waiting
            assert turned_away.retry_after_s is not None
            assert 0.0 < turned_away.retry_after_s <= 30.0
            await clock.advance(turned_away.retry_after_s + 0.001)
            waited += turned_away.retry_after_s
            assert (await fault(desk, provider)).kind is FaultClass.TRANSIENT  # the trial
            trials += 1
        assert trials < 20
        provider.up()
        await clock.advance(30.0)
        assert (await desk.client("p").get(provider.url())).text == "hello"
        assert desk.stack.breakers.troubled == {}
        assert (await desk.client("p").get(provider.url())).text == "hello"


async def test_a_dead_host_takes_no_token(provider: Provider):
    provider.down()
    async with bench(ONCE, breakers=POLICY, clock=FakeClock()) as desk:
        for _ in range(5):
            await fault(desk, provider)
        assert len(desk.gates.permits) == 3
    assert [call.kind for call in desk.calls] == [CallKind.FAILED] * 5
    assert "does not answer" in desk.calls[-1].cause


async def test_errors_of_the_server_count_and_other_answers_do_not(provider: Provider):
    async with bench(ONCE, breakers=POLICY, clock=FakeClock()) as desk:
        for status in (404, 400, 401, 304):
            provider.script = always(Answer(status))
            for _ in range(4):
                await desk.client("p").get(provider.url())
        assert desk.stack.breakers.troubled == {}
        provider.script = always(Answer(502))
        for _ in range(3):
            await desk.client("p").get(provider.url())
        [host] = desk.stack.breakers.troubled
    assert host == f"127.0.0.1:{provider.port}"


async def test_a_breaker_that_opens_meanwhile_does_not_hide_what_was_answered(provider: Provider):
    provider.script = always(Answer(502))
    policy = {"p": ProviderPolicy(retry=InlineRetry(retries=5, base_s=0.0))}
    async with bench(policy, breakers=POLICY, clock=FakeClock()) as desk:
        answer = await desk.client("p").get(provider.url())
        assert desk.stack.breakers.troubled
    assert answer.status_code == 502, "the item has had an attempt, and not a wait"
    assert len(provider.seen) == 3


async def test_a_dead_host_does_not_stop_another(provider: Provider):
    provider.script = always(Answer(502))
    async with bench(ONCE, breakers=POLICY, clock=FakeClock()) as desk:
        for _ in range(3):
            await desk.client("p").get(provider.url())
        await fault(desk, provider)
        provider.script = always(Answer(200))
        answer = await desk.client("p").get(provider.url(host="localhost"))
    assert answer.status_code == 200


async def test_one_trial_at_a_time_and_another_if_it_is_given_up(provider: Provider):
    clock = FakeClock()
    provider.script = always(Answer(502))
    async with bench(ONCE, breakers=POLICY, clock=clock) as desk:
        for _ in range(3):
            await desk.client("p").get(provider.url())
        await clock.advance(2.0)
        provider.script = always(Answer(silent=True))
        trial = asyncio.create_task(desk.client("p").get(provider.url()))
        await asyncio.to_thread(wait_until, provider.under_way)
        assert (await fault(desk, provider)).kind is FaultClass.THROTTLED
        assert provider.under_way() == 1
        trial.cancel()
        await asyncio.wait([trial])
        provider.script = always(Answer(200, body=b"hello"))
        assert (await desk.client("p").get(provider.url())).text == "hello"


async def test_a_refusal_shows_that_the_host_lives(provider: Provider):
    clock = FakeClock()
    async with bench(ONCE, breakers=POLICY, clock=clock) as desk:
        provider.script = always(Answer(502))
        for _ in range(3):
            await desk.client("p").get(provider.url())
        await clock.advance(2.0)
        provider.script = always(Answer(429))
        assert (await fault(desk, provider)).kind is FaultClass.THROTTLED
        assert desk.stack.breakers.troubled == {}


async def test_whoever_loses_the_race_for_the_trial_is_turned_away():
    clock = FakeClock()
    async with bench(ONCE, breakers=POLICY, clock=clock) as desk:
        breakers = desk.stack.breakers
        breaker = breakers.of("a.example")
        for _ in range(3):
            breakers.failed("a.example", breaker, breakers.admit("a.example", breaker))
        await clock.advance(2.0)
        breakers.check("a.example", breaker)
        breakers.admit("a.example", breaker)
        assert breaker.state is BreakerState.HALF_OPEN
        with pytest.raises(BreakerOpen):
            breakers.admit("a.example", breaker)


async def test_those_who_ask_hear_when_a_host_is_left_alone_and_when_it_answers_again():
    clock, heard = FakeClock(), []
    breakers = Breakers(POLICY, clock, Random(1), lambda *news: heard.append(news))
    breaker = breakers.of("a.example")
    for _ in range(3):
        breakers.failed("a.example", breaker, breakers.admit("a.example", breaker))
    ((host, wait_s),) = heard
    assert (host, wait_s) == ("a.example", breaker.wait_s(clock.monotonic()))
    await clock.advance(wait_s)
    breakers.succeeded("a.example", breaker, breakers.admit("a.example", breaker))
    assert heard[1:] == [("a.example", None)]


async def test_hosts_without_end_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Breakers, "MOST", 3)
    async with bench() as desk:
        breakers = desk.stack.breakers
        first = breakers.of("0.example")
        for number in range(1, 4):
            breakers.of(f"{number}.example")
        assert breakers.of("3.example") is breakers.of("3.example")
        assert breakers.of("0.example") is not first
