"""Who may go, in which order, and what those hear who may not."""

import asyncio

import pytest

from headgate.core.fault import FaultClass
from headgate.core.gates.config import GatePolicy
from headgate.core.gates.configured_limiter import ConfiguredLimiter
from headgate.core.pacing.pace import Pace
from headgate.core.provider import CredentialPolicy, ProviderPolicy
from headgate.core.rate import Ceilings
from headgate.engine.gates.path import GatePaths
from headgate.engine.gates.sync import LedgerTime
from headgate.engine.gates.tree import GateClosed, GateTree
from headgate.ports.gate import HostTrouble, Route, Turn
from headgate.testing import FakeClock

ANYWHERE = Route("", "example.org", "api.example.org")
PRICES = Route("prices", "example.org", "api.example.org")
MINE = Turn("me", 1)
PATIENCE_S = 30.0
PLAIN = GatePolicy()


class Town:
    """A gate tree on a clock that we own."""

    def __init__(self, policy: GatePolicy = PLAIN, **providers: ProviderPolicy) -> None:
        self.clock = FakeClock()
        self.gate_paths = GatePaths(
            providers, policy, lambda limits, _: Pace(limits), ConfiguredLimiter
        )
        self.tree = GateTree(self.gate_paths.to, LedgerTime(self.clock), self.clock)

    async def enter(self, route=PRICES, turn=MINE, patience_s=PATIENCE_S):
        return await self.tree.enter(route, turn, {}, patience_s)

    def knock(self, route=PRICES, turn=MINE, patience_s=PATIENCE_S):
        return asyncio.ensure_future(self.enter(route, turn, patience_s))


async def turn_of_the_loop() -> None:
    """Let every task take one step."""
    await FakeClock().sleep(0)


async def passed(*tasks) -> list[bool]:
    await turn_of_the_loop()
    return [task.done() for task in tasks]


def answer(permit, status=200, headers=None) -> None:
    permit.answered(status, headers or {}, 0.05)
    permit.release()


async def test_an_open_gate_grants_a_permit_without_a_turn_of_the_event_loop():
    town = Town()
    entering = town.enter(ANYWHERE)
    with pytest.raises(StopIteration) as done:
        entering.send(None)
    permit = done.value.value
    assert (permit.waited_s, permit.cause, permit.credential) == (0.0, "", None)


async def test_requests_are_spaced_by_the_configured_rate():
    town = Town(prices=ProviderPolicy(rate="2/s"))
    answer(await town.enter())
    second, third = town.knock(), town.knock()
    assert await passed(second, third) == [False, False]
    await town.clock.advance(0.51)
    assert await passed(second, third) == [True, False]
    await town.clock.advance(0.51)
    assert await passed(third) == [True]
    assert third.result().waited_s == pytest.approx(1.0, abs=0.01)
    assert third.result().cause


async def test_a_transfer_counts_against_the_cap_until_the_end_of_its_body():
    town = Town(prices=ProviderPolicy(concurrency=1))
    first = await town.enter()
    second = town.knock()
    first.answered(200, {}, 0.05)
    await town.clock.advance(5)
    assert await passed(second) == [False]
    first.release()
    first.release()
    await town.clock.advance(1)
    assert await passed(second) == [True]
    assert second.result().cause.startswith("concurrency")


async def test_a_light_request_does_not_count_as_a_transfer():
    town = Town(prices=ProviderPolicy(concurrency=1))
    await town.enter()
    light = Route("prices", "example.org", "api.example.org", transfer=False)
    gate = town.gate_paths.gates["provider:prices"]
    assert gate.in_flight == 1
    waiting = town.knock(light)
    assert await passed(waiting) == [False]  # the cap is used up, and it may not go beyond it
    waiting.cancel()


async def test_a_request_passes_all_its_gates_or_none():
    town = Town(prices=ProviderPolicy(rate="100/s", concurrency_per_host=1))
    await town.enter()
    provider, host = (
        town.gate_paths.gates["provider:prices"],
        town.gate_paths.gates["host:api.example.org"],
    )
    waiting = town.knock()
    await town.clock.advance(3)
    assert await passed(waiting) == [False]
    assert (provider.in_flight, host.in_flight) == (1, 1)
    other = await town.enter(Route("prices", "example.org", "www.example.org"))
    assert (provider.in_flight, host.in_flight) == (2, 1)
    answer(other)
    assert (provider.in_flight, host.in_flight) == (1, 1)
    waiting.cancel()


async def test_owners_take_turns_and_then_their_jobs():
    town = Town(prices=ProviderPolicy(rate="1/s"))
    await town.enter()
    order = []
    crowd = [(Turn("greedy", 1), "first job")] * 6
    for turn, name in [*crowd, (Turn("greedy", 3), "second job"), (Turn("modest", 2), "modest")]:
        town.knock(turn=turn).add_done_callback(lambda _, name=name: order.append(name))
    await town.clock.advance(10)
    await turn_of_the_loop()
    assert len(order) == 8
    assert order.index("modest") <= 2
    assert order.index("second job") <= 4


async def test_a_refusal_closes_the_gate_for_everyone():
    town = Town(prices=ProviderPolicy())
    permit = await town.enter()
    feedback = permit.answered(429, {"retry-after": "20"}, 0.05)
    permit.release()
    assert feedback.refused
    assert feedback.retry_in_s == pytest.approx(20, abs=1)
    waiting = town.knock()
    await town.clock.advance(15)
    assert await passed(waiting) == [False]
    await town.clock.advance(10)
    assert await passed(waiting) == [True]
    assert waiting.result().cause.startswith("retry-after")


async def test_a_request_beyond_its_patience_gets_the_time_to_try_again():
    town = Town(prices=ProviderPolicy())
    permit = await town.enter()
    permit.answered(429, {"retry-after": "100"}, 0.05)
    with pytest.raises(GateClosed) as closed:
        await town.enter()
    fault = closed.value.ending
    assert fault.kind is FaultClass.THROTTLED
    assert fault.gate == "prices"
    assert fault.retry_after_s == pytest.approx(100, abs=1)
    assert "retry-after" in fault.reason


async def test_patience_may_also_end_while_a_request_waits():
    town = Town(prices=ProviderPolicy(concurrency=1))
    await town.enter()
    waiting = town.knock(patience_s=5)
    assert await passed(waiting) == [False]
    await town.clock.advance(6)
    with pytest.raises(GateClosed, match="concurrency"):
        await waiting
    assert town.tree.waiting_lanes.total == 0


async def test_a_request_that_is_cancelled_while_waiting_leaves_no_trace():
    town = Town(prices=ProviderPolicy(concurrency=1))
    first = await town.enter()
    waiting, next_one = town.knock(), town.knock()
    await turn_of_the_loop()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    answer(first)
    await town.clock.advance(1)
    assert await passed(next_one) == [True]
    assert town.gate_paths.gates["provider:prices"].in_flight == 1


async def test_a_request_that_is_cancelled_when_it_gets_its_permit_returns_it():
    town = Town(prices=ProviderPolicy(concurrency=1))
    first = await town.enter()
    waiting = town.knock()
    await turn_of_the_loop()
    answer(first)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert town.gate_paths.gates["provider:prices"].in_flight == 0


async def test_a_pool_uses_the_credential_that_may_send_first():
    keys = {name: CredentialPolicy(env=name) for name in ("a", "b")}
    policy = ProviderPolicy(hosts=("api.example.org",), rate="1/s", credentials=keys)
    town = Town(prices=policy)
    first, second = await town.enter(), await town.enter()
    assert {first.credential, second.credential} == {"a", "b"}
    waiting = town.knock()
    assert await passed(waiting) == [False]
    waiting.cancel()


async def test_a_rejected_credential_is_not_used_while_there_is_another():
    keys = {name: CredentialPolicy(env=name) for name in ("a", "b")}
    town = Town(prices=ProviderPolicy(hosts=("api.example.org",), credentials=keys))
    first = await town.enter()
    assert first.bench("401") is True
    answer(first)
    await town.clock.advance(10)
    second = await town.enter()
    assert second.credential != first.credential
    assert second.bench("401") is False


async def test_a_permit_is_revoked_when_its_gate_closes():
    town = Town()
    answer(await town.enter(ANYWHERE))
    await town.clock.advance(5)
    first, second = await town.enter(ANYWHERE), town.knock(ANYWHERE)
    await town.clock.advance(5)
    assert not (await second).recalled()
    answer(first, 429, {"retry-after": "20"})
    assert second.result().recalled()
    second.result().withdraw()
    assert town.gate_paths.gates["host:api.example.org"].in_flight == 0
    await town.clock.advance(21)
    assert not second.result().recalled(), "it is open again"


async def test_the_permit_of_a_trial_request_is_not_revoked():
    town = Town()
    permit = await town.enter(ANYWHERE)
    asked = 0
    while asked < 3:
        assert not permit.recalled()
        answer(permit, 429)
        waiting = town.knock(ANYWHERE, patience_s=10**6)
        while not waiting.done():
            await town.clock.advance(1)
        permit = await waiting
        asked += 1


# ---- what the dispatcher asks ------------------------------------------------------------------


async def test_a_gate_has_room_for_requests_that_pass_soon():
    town = Town(prices=ProviderPolicy(rate="2/s"))
    assert town.tree.room(1, "prices") is None
    await town.enter()
    assert town.tree.room(1, "prices") == 10
    waiting = [town.knock() for _ in range(4)]
    await turn_of_the_loop()
    assert town.tree.room(1, "prices") == 6
    for task in waiting:
        task.cancel()


async def test_a_closed_gate_has_no_room_and_is_named():
    town = Town()
    permit = await town.enter(ANYWHERE)
    permit.answered(429, {"retry-after": "50"}, 0.05)
    with pytest.raises(GateClosed):
        await town.enter(ANYWHERE)
    assert town.tree.shut() == {"api.example.org"}
    await town.clock.advance(60)
    assert town.tree.shut() == frozenset()


async def test_a_gate_that_closes_while_requests_wait_is_named():
    town = Town(GatePolicy(concurrency_per_host=1))
    permit = await town.enter(ANYWHERE)
    waiting = town.knock(ANYWHERE)
    await turn_of_the_loop()
    assert town.tree.shut() == frozenset(), "it only has to wait for its turn"
    answer(permit, 429, {"retry-after": "20"})
    assert await passed(waiting) == [False], "it is patient enough"
    assert town.tree.shut() == {"api.example.org"}
    waiting.cancel()


async def test_a_closed_gate_is_named_even_if_its_domain_is_full():
    town = Town(GatePolicy(concurrency_per_domain=1))
    answer(await town.enter(ANYWHERE), 429, {"retry-after": "50"})
    await town.enter(Route("", "example.org", "www.example.org"))
    waiting = town.knock(ANYWHERE)
    await turn_of_the_loop()
    assert town.tree.shut() == {"api.example.org"}
    waiting.cancel()


async def test_if_only_a_host_is_closed_the_host_is_named_not_its_provider():
    town = Town(prices=ProviderPolicy(concurrency_per_host=1))
    await town.enter()
    waiting = town.knock()
    await turn_of_the_loop()
    host = town.gate_paths.gates["host:api.example.org"]
    host.limiter.state.shut_until = LedgerTime(town.clock).now() + 50
    assert town.tree.shut() == {"api.example.org"}
    waiting.cancel()


async def test_a_slow_gate_is_named_when_enough_requests_wait_there():
    town = Town(prices=ProviderPolicy(rate="1/s"))
    await town.enter()
    waiting = [town.knock()]
    await turn_of_the_loop()
    assert town.tree.shut() == frozenset()
    waiting += [town.knock() for _ in range(6)]
    await turn_of_the_loop()
    assert town.tree.shut() == {"prices"}
    for task in waiting:
        task.cancel()


async def test_a_job_that_only_waits_gets_no_more_items():
    town = Town(prices=ProviderPolicy(rate="1/h"))
    town.tree.waiting_lanes.room_for_job = 2
    await town.enter()
    waiting = [town.knock(patience_s=10**6) for _ in range(2)]
    await turn_of_the_loop()
    assert town.tree.room(1, "") == 0
    assert town.tree.room(2, "") is None
    for task in waiting:
        task.cancel()


async def test_a_full_worker_returns_requests_that_wait_at_a_closed_gate():
    town = Town(GatePolicy(concurrency_per_host=1))
    town.tree.waiting_lanes.room_for_job = 3
    elsewhere = Route("", "example.net", "example.net")
    permit = await town.enter(ANYWHERE)
    await town.enter(elsewhere)
    shut = [town.knock(ANYWHERE) for _ in range(2)]
    others = town.knock(ANYWHERE, Turn("me", 2))
    await turn_of_the_loop()
    answer(permit, 429, {"retry-after": "20"})
    town.tree.make_room(1)
    assert await passed(*shut, others) == [False, False, False], "there is room for one more"
    waiting = town.knock(elsewhere)
    await turn_of_the_loop()
    town.tree.make_room(1)
    assert await passed(*shut, waiting, others) == [True, True, False, False]
    with pytest.raises(GateClosed, match=r"requests to api\.example\.org have to wait for 20\.0 s"):
        await shut[0]
    assert town.tree.room(1, "") is None
    for task in (waiting, others, shut[1]):
        task.cancel()


def test_a_fixed_limit_learns_nothing():
    fixed = ConfiguredLimiter(Ceilings(concurrency=1))
    fixed.on_send(0.0, 1)
    assert fixed.on_reply(1.0, 0.0, 1, 429, {"retry-after": "60"}, 0.1).refused is False
    assert fixed.gate(1.0, 0) == 1.0
    assert fixed.rate(1.0) > 10**8


async def test_the_global_gate_and_the_domain_gate_come_before_the_others():
    town = Town(GatePolicy(concurrency=3, concurrency_per_domain=2, concurrency_per_host=1))
    hosts = [Route("", "example.org", f"{name}.example.org") for name in "abc"]
    far = [Route("", name, name) for name in ("example.net", "example.com")]
    first = await town.enter(hosts[0])
    second_there = town.knock(hosts[0])
    assert await passed(second_there) == [False], "one for each host"
    await town.enter(hosts[1])
    third_in_domain = town.knock(hosts[2])
    assert await passed(third_in_domain) == [False], "two for each domain"
    await town.enter(far[0])
    fourth = town.knock(far[1])
    assert await passed(fourth) == [False], "three for everything"
    answer(first)
    assert sum(await passed(second_there, third_in_domain, fourth)) == 1
    assert town.gate_paths.gates["global:all"].in_flight == 3
    for task in (second_there, third_in_domain, fourth):
        task.cancel()


async def test_the_cap_of_a_provider_applies_to_urls_that_it_named_on_any_host():
    town = Town(prices=ProviderPolicy(rate="1/min", concurrency=2))
    named = [Route("", f"{name}.org", f"{name}.org", through="prices") for name in "abc"]
    first = await town.enter(named[0])
    await town.enter(named[1])
    third = town.knock(named[2])
    assert await passed(third) == [False], "two at a time; the pace is that of its own hosts"
    await town.enter(Route("", "d.org", "d.org"))
    answer(first)
    assert await passed(third) == [True]


async def test_hosts_that_share_settings_have_separate_caps_and_limits():
    shared = ProviderPolicy(each_host=True, concurrency_per_host=1, concurrency_per_domain=2)
    town = Town(files=shared)
    hosts = [Route("", "example.org", f"{name}.example.org", manners="files") for name in "abc"]
    first = await town.enter(hosts[0])
    second_there = town.knock(hosts[0])
    await town.enter(hosts[1])
    third_in_domain = town.knock(hosts[2])
    assert await passed(second_there, third_in_domain) == [False, False]
    far = await town.enter(Route("", "example.net", "example.net", manners="files"))
    answer(far, 429, {"retry-after": "600"})
    answer(first)
    assert sum(await passed(second_there, third_in_domain)) == 1, "no other host has refused"
    assert "provider:files" not in town.gate_paths.gates
    for task in (second_there, third_in_domain):
        task.cancel()


async def test_a_global_rate_applies_across_hosts():
    town = Town(GatePolicy(rate="1/min"))
    await town.enter(ANYWHERE)
    with pytest.raises(GateClosed, match="all requests have to wait"):
        await town.enter(Route("", "example.net", "example.net"))


async def test_a_waiting_request_fails_when_its_gate_closes_for_too_long():
    town = Town(prices=ProviderPolicy(concurrency=1))
    first = await town.enter()
    waiting = town.knock()
    assert await passed(waiting) == [False]
    answer(first, 429, {"retry-after": "600"})
    assert await passed(waiting) == [True]
    with pytest.raises(GateClosed, match="retry-after"):
        await waiting


async def test_a_host_that_does_not_answer_is_closed_until_its_next_trial():
    town = Town()
    await town.enter(ANYWHERE)
    town.tree.hosts.is_down("api.example.org", HostTrouble(20.0, "connection refused"), 1)
    assert town.tree.shut() == {"api.example.org"}
    first = town.gate_paths.gates["host:api.example.org"].down["api.example.org"]
    assert first.reason == "connection refused"
    assert first.since_s == first.until_s - 20.0
    town.tree.hosts.is_down("api.example.org", HostTrouble(40.0, "answers 502"), 1)
    again = town.gate_paths.gates["host:api.example.org"].down["api.example.org"]
    assert (again.reason, again.since_s) == ("answers 502", first.since_s)
    town.tree.hosts.is_up("api.example.org")
    assert town.tree.shut() == set()
    assert not town.gate_paths.gates["host:api.example.org"].down
