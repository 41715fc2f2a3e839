"""The view of a gate that people see, from states of real paces."""

from collections.abc import Mapping

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.gates.budget import Budget, parse_caps
from headgate.core.gates.config import GateLimits, GatePolicy
from headgate.core.gates.configured_limiter import ConfiguredLimiter
from headgate.core.gates.fair_split import ALIVE_S
from headgate.core.gates.state import GateState, HostDown, Member, Override
from headgate.core.gates.view import SET, GateView, gate_view
from headgate.core.pacing.level import Level
from headgate.core.pacing.pace import Pace
from headgate.core.pacing.state import Cause, PaceState
from headgate.core.provider import ProviderPolicy
from headgate.core.rate import Ceilings

NOW = 1_800_000_000.0
NOBODY = ProviderPolicy()


def busy(in_flight: int = 1, **changes: Mapping[str, HostDown]) -> dict[str, Member]:
    return {"w1": Member(NOW, -1.0, in_flight, waiting=True, **changes)}


def paced(*replies: tuple[int, Mapping[str, str]]) -> PaceState:
    """What is left after some replies to requests half a second apart, the last one just now."""
    pace = Pace(Ceilings())
    for place, (status, headers) in enumerate(replies):
        at = NOW - (len(replies) - place) * 0.5
        pace.gate(at, 0)
        pace.on_send(at, 1)
        pace.on_reply(at + 0.1, at, 1, status, headers, 0.1)
    return pace.state


def seen(state: GateState | None, policy: ProviderPolicy = NOBODY, at: float = NOW) -> GateView:
    text = msgspec.json.encode(state) if state else b""
    back = msgspec.json.decode(text, type=GateState) if text else None
    return gate_view("provider:wikidata", back, policy, at)


OK = (200, {})


def test_an_unused_gate_shows_only_its_configuration():
    view = seen(None, ProviderPolicy(rate="10/s, 120/min", concurrency=3))
    assert (view.kind, view.name, view.asked) == ("provider", "wikidata", False)
    assert (view.configured, view.configured_per_s) == ("10/s, 120/min", 2.0)
    assert (view.configured_in_flight, view.learned_per_s, view.now_per_s) == (3, None, None)
    assert not view.holds


def test_without_anybody_waiting_nothing_holds():
    view = seen(GateState(paced(OK, OK)))
    assert (view.cause, view.closed, view.holds) == (Cause.OPEN, False, False)
    assert (view.replies, view.refused_share, view.in_flight) == (2, 0.0, 0)
    assert view.latency_s == pytest.approx(0.14, abs=0.02)


def test_a_limit_that_is_still_looked_for():
    view = seen(GateState(paced(OK), busy()))
    assert (view.cause, view.why) == (Cause.RATE, "the limit is not known yet")
    assert view.learned_per_s is None
    assert view.stage.startswith("starting")
    assert view.holds


def test_a_learned_rate():
    state = paced(OK)
    state.rate.set(5.0, 60.0, 2.0, 2.0)
    state.settled = True
    view = seen(GateState(state, busy()))
    assert (view.learned_per_s, view.cause, view.why) == (5.0, Cause.RATE, "the learned rate")
    assert view.now_per_s == pytest.approx(5 * 0.985)
    assert view.stage == "holding: just below the known limit"


def test_a_ceiling_below_what_was_learned():
    view = seen(GateState(paced(OK), busy()), ProviderPolicy(rate="2/s"))
    assert (view.cause, view.now_per_s) == (Cause.CEILING, 2.0)


def test_a_configured_rate_holds_until_something_is_learned():
    view = seen(GateState(paced(OK), busy()), ProviderPolicy(rate="200/s"))
    assert (view.cause, view.now_per_s) == (Cause.CEILING, 200.0)
    assert view.stage == "starting: the configured rate applies until a request is refused"
    state = paced(OK)
    state.rate.set(5.0, 60.0, 2.0, 2.0)
    learned = seen(GateState(state, busy()), ProviderPolicy(rate="200/s"))
    assert (learned.cause, learned.now_per_s) == (Cause.RATE, pytest.approx(4.925))


def test_as_many_in_flight_as_is_configured():
    view = seen(GateState(paced(OK), busy(4)), ProviderPolicy(concurrency=4))
    assert (view.cause, view.in_flight) == (Cause.CONCURRENCY, 4)


def test_as_many_in_flight_as_was_learned():
    state = paced(OK)
    state.cap = Level(known=6.0, hold_s=100.0)
    view = seen(GateState(state, busy(6)), ProviderPolicy(concurrency=9))
    assert (view.cause, view.learned_in_flight) == (Cause.CAP, 6)


def test_a_provider_that_asks_to_wait():
    view = seen(GateState(paced(OK, (429, {"retry-after": "30"}))))
    assert (view.cause, view.closed, view.now_per_s) == (Cause.RETRY_AFTER, True, 0.0)
    assert view.closed_until == pytest.approx(NOW - 0.4 + 30)
    assert view.why == "the provider asked to wait"
    assert (view.refusals, view.refused_share) == (1, 0.5)
    assert view.evidence[-1].seen.startswith("refused at")


def test_a_wait_that_is_over_but_not_tried_yet():
    view = seen(GateState(paced(OK, (429, {"retry-after": "30"}))), at=NOW + 60)
    assert (view.cause, view.closed, view.closed_until) == (Cause.STOPPED, True, None)


def test_a_limit_that_the_provider_declares():
    told = {"ratelimit": '"default";r=5;t=1', "ratelimit-policy": '"default";q=10;w=1'}
    view = seen(GateState(paced((200, told), (200, told)), busy()))
    assert (view.told, view.cause, view.learned_per_s) == (True, Cause.TOLD, 10.0)
    assert view.stage.startswith("told")


def test_an_override_applies_for_its_time():
    state = GateState(paced(OK), busy(), Override(rate=0.5, until=NOW + 10))
    view = seen(state)
    assert (view.cause, view.now_per_s) == (SET, 0.5)
    assert view.override == Override(rate=0.5, until=NOW + 10)
    later = seen(GateState(state.pace, {"w1": Member(NOW + 10, -1.0)}, state.override), at=NOW + 10)
    assert (later.override, later.cause) == (None, Cause.OPEN)
    assert later.now_per_s == pytest.approx(10.0, abs=1)


@pytest.mark.parametrize("until", [None, NOW + 60])
def test_a_pause(until):
    view = seen(GateState(paced(OK), busy(), Override(paused=True, until=until)))
    assert (view.cause, view.closed, view.closed_until) == (Cause.PAUSED, True, until)
    assert view.why == "paused by an operator"


def test_processes_that_ended_are_not_counted():
    view = seen(GateState(paced(OK), busy(3)), at=NOW + ALIVE_S)
    assert (view.members, view.in_flight, view.waiting) == ({}, 0, False)


def test_hosts_that_do_not_answer_are_named():
    down = HostDown(NOW + 7, "connection refused", NOW - 5)
    view = seen(GateState(paced(OK), busy(down={"www.wikidata.org": down})))
    assert view.down == {"www.wikidata.org": down}
    assert view.broken == {"www.wikidata.org": NOW + 7}


def test_a_state_of_an_earlier_version_names_the_hosts_without_a_reason():
    plain = msgspec.json.encode(GateState(paced(OK), busy()))
    old = plain.replace(b'"broken":{},"down":{}', b'"broken":{"a.example":%.1f}' % (NOW + 7))
    assert old != plain
    view = seen(msgspec.json.decode(old, type=GateState))
    assert view.down == {"a.example": HostDown(NOW + 7)}


def test_of_two_reports_on_one_host_the_one_with_the_next_trial_counts():
    early, late = HostDown(NOW + 3, "timed out"), HostDown(NOW + 9, "connection refused")
    (one,) = busy(down={"a.example": late}).values()
    members = {"x": one, "y": msgspec.structs.replace(one, down={"a.example": early})}
    assert seen(GateState(paced(OK), members)).down == {"a.example": early}


def test_budgets_are_shown_with_their_use():
    policy = ProviderPolicy(budget={"tokens": "1000/min"}, hard_caps={"euros": "5/day"})
    budget = Budget(parse_caps(policy.budget, policy.hard_caps))
    budget.add(NOW, {"tokens": 250.0, "euros": 2.0})
    view = seen(GateState(paced(OK), busy(), budget=budget.state), policy)
    assert [(use.name, use.used, use.hard) for use in view.budgets] == [
        ("tokens", 250.0, False),
        ("euros", 2.0, True),
    ]
    assert view.budgets[1].turns_at == pytest.approx((NOW // 86_400 + 1) * 86_400)
    assert view.cause == Cause.RATE


def test_a_spent_cap_closes_until_its_window_turns():
    policy = ProviderPolicy(hard_caps={"euros": "5/day"})
    budget = Budget(parse_caps(policy.budget, policy.hard_caps))
    budget.add(NOW, {"euros": 5.0})
    view = seen(GateState(paced(OK), busy(), budget=budget.state), policy)
    assert (view.cause, view.closed) == (Cause.BUDGET, True)
    assert view.closed_until == pytest.approx((NOW // 86_400 + 1) * 86_400)
    assert "euros" in view.why


def test_a_gate_that_only_keeps_a_cap_has_no_rate():
    view = seen(GateState(ConfiguredLimiter(Ceilings(concurrency=2)).state, busy(2)))
    assert (view.learned_per_s, view.now_per_s) == (None, None)


def test_every_kind_of_gate_finds_its_settings():
    files = ProviderPolicy(hosts=("files.org",), rate="9/s", concurrency_per_host=2)
    gates = GatePolicy(
        rate="50/s", concurrency=40, concurrency_per_domain=8, concurrency_per_host=4
    )
    configured = GateLimits({"files": files}, gates)
    assert configured.of("provider:files") == configured.of("credential:files/a") == files
    assert configured.of("provider:other") == NOBODY
    assert configured.of("host:files.org").concurrency == 2
    assert configured.of("host:other.org").concurrency == 4
    assert configured.of("domain:other.org").concurrency == 8
    through = configured.of("through:files")
    assert (through.concurrency, through.rate) == (files.concurrency, "")
    assert (configured.of("global:all").rate, configured.of("global:all").concurrency) == (
        "50/s",
        40,
    )


@given(
    st.lists(
        st.tuples(
            st.sampled_from([200, 429, 503, 500]),
            st.sampled_from([{}, {"retry-after": "3"}, {"x-ratelimit-remaining": "0"}]),
        ),
        max_size=30,
    ),
    st.integers(0, 5),
    st.floats(0, 120),
)
def test_every_state_has_a_view_that_agrees_with_itself(replies, in_flight, later):
    members = {"w1": Member(NOW + later, -1.0, in_flight, waiting=True)}
    view = seen(GateState(paced(*replies), members), ProviderPolicy(concurrency=3), NOW + later)
    assert view.closed == (view.now_per_s == 0.0)
    assert view.closed_until is None or (view.closed and view.closed_until > NOW + later)
    assert view.why
    assert view.holds == (view.cause != Cause.OPEN)
    assert 0 <= view.refused_share <= 1


def test_a_host_stays_known_while_its_process_has_nothing_to_exchange():
    """A process that leaves a host alone sends nothing, and so is not heard of meanwhile."""
    down = HostDown(NOW + 25, "connection refused", NOW - 10)
    (one,) = busy(down={"a.example": down}).values()
    silent = msgspec.structs.replace(one, seen=NOW - 8)
    view = seen(GateState(paced(OK), {"x": silent}))
    assert view.down == {"a.example": down}
    assert view.why == "a.example does not answer (connection refused)"
    gone = msgspec.structs.replace(silent, down={"a.example": HostDown(NOW - 5)})
    assert seen(GateState(paced(OK), {"x": gone})).down == {}
