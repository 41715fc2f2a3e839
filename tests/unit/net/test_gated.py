"""The gates let requests out, hear what came back, and get every place back."""

import asyncio

import pytest

from headgate.core.call import CallKind
from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.gates.breaker import BreakerPolicy
from headgate.core.provider import InlineRetry, ProviderPolicy
from headgate.ports.gate import Cost, Route, Turn
from tests.kit.answers import Answer, always, by_path, in_turn, redirect, refusal
from tests.kit.gates import NarrowGates, OpenGates, OpenPermit
from tests.kit.http import ALICE, bench
from tests.kit.provider import Provider, wait_until

ONCE = ProviderPolicy(retry=InlineRetry(retries=0), patience_s=7.0)


async def test_a_request_passes_the_gates_of_its_route(provider: Provider):
    async with bench({"lookup": ONCE}) as cli:
        await cli.client("lookup").get(provider.url("/a"), cost={"tokens": 5})
        [permit] = cli.gates.permits
        [call] = cli.calls
    host = f"127.0.0.1:{provider.port}"
    assert permit.route == Route("lookup", "127.0.0.1", host, transfer=True)
    assert permit.turn == ALICE
    assert permit.cost == {"tokens": 5}
    assert cli.gates.patience_s == [7.0]
    assert permit.told == ["answered 200", "release"]
    assert permit.headers["content-length"] == "5"
    assert permit.latency_s >= 0.0
    assert (call.verb, call.provider, call.host) == ("GET", "lookup", host)
    assert (call.status, call.kind, call.bytes) == (200, CallKind.FETCHED, 5)
    assert call.ran_ms >= permit.latency_s * 1_000


async def test_a_request_whose_permit_is_revoked_passes_the_gates_again(provider: Provider):
    async with bench({"lookup": ONCE}) as cli:
        cli.gates.recalls = [False, True]
        await cli.client("lookup").get(provider.url("/a"))
        first, second = cli.gates.permits
        [call] = cli.calls
    assert first.told == ["withdraw", "release"]
    assert second.told == ["answered 200", "release"]
    assert call.status == 200
    assert len(provider.seen) == 1


async def test_a_light_request_does_not_count_as_a_transfer(provider: Provider):
    async with bench() as cli:
        await cli.client().get(provider.url(), light=True)
        assert not cli.gates.permits[0].route.transfer


async def test_the_place_is_held_until_the_body_has_ended(provider: Provider):
    provider.script = always(Answer(200, body=b"abcd", drip_s=0.05))
    async with bench() as cli:
        fetching = asyncio.create_task(cli.client().get(provider.url()))
        await asyncio.to_thread(
            wait_until, lambda: any(permit.told for permit in cli.gates.permits)
        )
        assert cli.gates.permits[0].told == ["answered 200"]
        await fetching
        assert cli.gates.permits[0].released


async def test_the_overlap_at_the_server_never_exceeds_a_cap(provider: Provider):
    provider.script = always(Answer(200, body=b"abcd", drip_s=0.01))
    host = f"127.0.0.1:{provider.port}"
    async with bench(gates=NarrowGates(3)) as cli:
        fetches = (cli.client().get(provider.url(f"/{n}")) for n in range(12))
        await asyncio.gather(*fetches)
        assert cli.gates.most_inside == 3
    assert provider.overlap(host) <= 3
    assert len(provider.seen) == 12


async def test_a_streamed_answer_holds_its_place_until_it_is_closed(provider: Provider):
    provider.script = always(Answer(200, body=b"x" * 1_000_000))
    async with bench() as cli:
        async with cli.client().stream("GET", provider.url()) as answer:
            assert answer.status_code == 200
            async for piece in answer.aiter_bytes():
                assert piece
                break
            assert not cli.gates.permits[0].released
        assert cli.gates.permits[0].released
        [call] = cli.calls
    assert 0 < call.bytes < 1_000_000


async def test_a_redirect_frees_its_gates_before_the_next_are_taken(provider: Provider):
    elsewhere = provider.url("/b", host="localhost")
    provider.script = by_path({"/a": always(redirect(elsewhere)), "/b": always(Answer(200))})
    async with bench() as cli:
        answer = await cli.client().get(provider.url("/a"))
        first, second = cli.gates.permits
        assert cli.gates.most_inside == 1
    assert answer.url == elsewhere
    assert first.released
    assert (first.route.host, second.route.host) == (
        f"127.0.0.1:{provider.port}",
        f"localhost:{provider.port}",
    )
    assert [call.status for call in cli.calls] == [302, 200]


async def test_the_gate_of_the_provider_that_named_a_url_applies_after_redirects(
    provider: Provider,
):
    elsewhere = provider.url("/b", host="localhost")
    provider.script = by_path({"/a": always(redirect(elsewhere)), "/b": always(Answer(200))})
    async with (
        bench({"index": ONCE}) as cli,
        cli.client().stream("GET", provider.url("/a"), through="index") as answer,
    ):
        held = cli.gates.permits[-1]
        assert held.route.host == f"localhost:{provider.port}"
        assert not held.released
        await answer.aread()
        assert held.released, "at the end of the body"
    assert [permit.route.through for permit in cli.gates.permits] == ["index", "index"]


async def test_its_own_host_has_its_gate_already(provider: Provider):
    own = ProviderPolicy(hosts=(f"127.0.0.1:{provider.port}",))
    async with bench({"index": own}) as cli:
        await cli.client().get(provider.url(), through="index")
    [permit] = cli.gates.permits
    assert (permit.route.provider, permit.route.through) == ("index", "")


@pytest.mark.parametrize("answer", [Answer(hang_up=True), Answer(200, body=b"hello", cut_at=2)])
async def test_no_answer_gives_the_place_back(provider: Provider, answer: Answer):
    provider.script = always(answer)
    async with bench({"lookup": ONCE}) as cli:
        with pytest.raises(AttemptOver) as caught:
            await cli.client("lookup").get(provider.url())
        [permit] = cli.gates.permits
        [call] = cli.calls
    assert isinstance(caught.value.ending, Fault)
    assert caught.value.ending.kind is FaultClass.TRANSIENT
    assert permit.told[-1] == "release"
    assert call.kind is CallKind.FAILED
    assert call.cause == str(caught.value)


async def test_no_answer_says_nothing_about_a_rate(provider: Provider):
    provider.script = always(Answer(hang_up=True))
    async with bench({"lookup": ONCE}) as cli:
        with pytest.raises(AttemptOver):
            await cli.client("lookup").get(provider.url())
        assert cli.gates.permits[0].told == ["failed", "release"]


async def test_a_cancelled_request_releases_its_permit(provider: Provider):
    provider.script = always(Answer(silent=True))
    async with bench() as cli:
        fetching = asyncio.create_task(cli.client().get(provider.url()))
        await asyncio.to_thread(wait_until, provider.under_way)
        fetching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await fetching
        assert cli.gates.permits[0].released
        assert cli.stack.breakers.of(f"127.0.0.1:{provider.port}").alert is False


async def test_a_refusal_is_repeated_at_the_gate_if_that_reopens_soon(provider: Provider):
    provider.script = in_turn(refusal("1"), Answer(200, body=b"hello"))
    async with bench() as cli:
        answer = await cli.client().get(provider.url())
        told = [permit.told for permit in cli.gates.permits]
    assert answer.text == "hello"
    assert told == [["answered 429", "release"], ["answered 200", "release"]]
    assert [call.kind for call in cli.calls] == [CallKind.REFUSED, CallKind.FETCHED]


@pytest.mark.parametrize("answer", [refusal("3600"), refusal("3600", status=503)])
async def test_a_refusal_for_long_sends_the_item_back_without_costing_an_attempt(
    provider: Provider, answer: Answer
):
    provider.script = always(answer)
    async with bench() as cli:
        with pytest.raises(AttemptOver, match="asked to slow down") as caught:
            await cli.client().get(provider.url())
    gate = provider.url().split("/")[2]
    assert caught.value.ending == Fault(FaultClass.THROTTLED, str(caught.value), 3600.0, gate)
    assert len(provider.seen) == 1


async def test_endless_refusals_send_the_item_back(provider: Provider):
    provider.script = always(refusal("0"))
    async with bench() as cli:
        with pytest.raises(AttemptOver) as caught:
            await cli.client().post(provider.url(), json={})
    assert isinstance(caught.value.ending, Fault)
    assert caught.value.ending.kind is FaultClass.THROTTLED
    assert len(provider.seen) == 1 + InlineRetry().retries


async def test_refusals_open_no_breaker(provider: Provider):
    provider.script = always(refusal("0"))
    async with bench(breakers=BreakerPolicy(failures=1)) as cli:
        for _ in range(5):
            with pytest.raises(AttemptOver):
                await cli.client().get(provider.url())
        assert cli.stack.breakers.troubled == {}


class ClosedGates(OpenGates):
    async def enter(self, route: Route, turn: Turn, cost: Cost, patience_s: float) -> OpenPermit:
        raise AttemptOver(Fault(FaultClass.THROTTLED, "the gate is closed", 60.0))


async def test_a_closed_gate_ends_the_attempt_immediately(provider: Provider):
    async with bench(gates=ClosedGates()) as cli:
        with pytest.raises(AttemptOver, match="the gate is closed"):
            await cli.client().get(provider.url())
    assert provider.seen == []
    assert cli.calls == []


async def test_the_real_cost_goes_to_the_last_request(provider: Provider):
    async with bench() as cli:
        client = cli.client()
        client.spend({"tokens": 1})  # nothing was asked yet
        await client.get(provider.url(), cost={"tokens": 10})
        client.spend({"tokens": 7})
        assert cli.gates.permits[0].told[-1] == "spend {'tokens': 7}"


async def test_a_redirect_costs_nothing_of_the_budget(provider: Provider):
    provider.script = by_path({"/a": always(redirect("/b")), "/b": always(Answer(200))})
    async with bench() as cli:
        await cli.client().get(provider.url("/a"), cost={"tokens": 10})
        assert "spend {'tokens': 0.0}" in cli.gates.permits[0].told
        assert cli.gates.permits[1].cost == {"tokens": 10}


async def test_a_streamed_answer_that_is_cut_gives_its_place_back(provider: Provider):
    provider.script = always(Answer(200, body=b"hello", cut_at=2))
    async with bench() as cli:
        with pytest.raises(AttemptOver, match="ended before the answer was complete"):
            async with cli.client().stream("GET", provider.url()) as answer:
                await answer.aread()
        assert cli.gates.permits[0].released
        [call] = cli.calls
    assert (call.kind, call.status, call.bytes) == (CallKind.FAILED, 200, 2)
