"""One refusal proves nothing: what it may change, and what a second one adds to it."""

import msgspec
import pytest

from headgate.core.pacing.level import Level
from headgate.core.pacing.pace import REST_S, Pace
from headgate.core.pacing.single_refusal import FREE, NEAR, NEAR_KNOWN
from headgate.core.pacing.state import PaceState, Window
from tests.kit.pace_run import LATENCY, START, Run


def stray(run: Run, retry_after: str = "") -> None:
    """A refusal that no limit explains."""
    if retry_after:
        run.send(429, retry_after=retry_after)
    else:
        run.send(429)


def holding(rate: float) -> Run:
    """A pace that has held a trusted level for a while."""
    run = Run()
    run.pace.state.rate.set(rate, 1e6, 2.0, 2.5)
    run.pace.state.settled = True
    run.deliver(2 * NEAR_KNOWN)
    return run


@pytest.mark.parametrize("retry_after", ["", "1", "2", "31", "60", "600"])
def test_one_refusal_while_starting_changes_no_rate(retry_after: str):
    run = Run()
    run.deliver(200)
    before = run.pace.state.rate.value
    stray(run, retry_after)
    run.deliver(3)
    assert run.pace.learned is None
    assert run.pace.state.window is None
    assert run.pace.state.rate.value >= 0.7 * before


@pytest.mark.parametrize("retry_after", ["1", "31", "60"])
def test_what_one_refusal_asks_for_is_honoured(retry_after: str):
    run = Run()
    run.deliver(200)
    stray(run, retry_after)
    assert run.pace.gate(run.now, 0) == run.now + float(retry_after)


@pytest.mark.parametrize("retry_after", ["", "1", "31"])
def test_one_refusal_below_a_known_level_leaves_it_where_it_was(retry_after: str):
    run = holding(20.0)
    stray(run, retry_after)
    run.deliver(3)
    assert run.pace.learned == 20.0
    assert run.pace.state.settled


@pytest.mark.parametrize("retry_after", ["", "31"])
def test_three_refusals_that_are_far_apart_change_no_rate(retry_after: str):
    run = Run()
    for answers in (220, 450, 380):
        run.deliver(answers)
        stray(run, retry_after)
    run.deliver(3)
    assert run.pace.learned is None
    assert run.pace.state.window is None


def test_a_second_refusal_soon_after_the_first_lowers_the_rate():
    run = Run()
    run.deliver(200)
    stray(run)
    before = run.pace.state.rate.value
    run.deliver(NEAR // 2)
    stray(run)
    run.deliver(3)
    assert run.pace.learned is not None
    assert run.pace.learned < before


def test_a_second_refusal_soon_after_the_first_lowers_a_known_level():
    run = holding(20.0)
    stray(run)
    run.deliver(NEAR_KNOWN // 2)
    stray(run)
    run.deliver(3)
    assert run.pace.learned is not None
    assert run.pace.learned < 20.0


def test_several_refused_at_once_lower_the_rate_at_once():
    pace = Pace()
    run = Run(pace)
    run.deliver(100)
    at = [run.now + place / 1000 for place in range(4)]
    for place, moment in enumerate(at):
        pace.on_send(moment, place + 1)
    for place, moment in enumerate(at):
        pace.on_reply(run.now + 0.1, moment, place + 1, 429, {}, LATENCY)
    run.now += 0.1
    run.deliver(3)
    assert pace.learned is not None


def test_single_refusals_that_come_too_often_are_believed():
    run = holding(20.0)
    for _ in range(FREE + 6):
        stray(run)
        run.deliver(NEAR_KNOWN + 10)
    assert run.pace.learned is not None
    assert run.pace.learned < 20.0


def test_refusals_far_below_a_rate_that_passed_do_not_follow_ours():
    run = holding(8.0)
    state = run.pace.state
    state.passed, state.passed_at = 100.0, run.now
    for _ in range(4):
        stray(run)
        run.deliver(NEAR + 30)
    assert run.pace.learned == 8.0


def quota(run: Run, count: int, retry_after: str) -> None:
    """All of a quota is used up, and the next one is refused."""
    run.deliver(count)
    stray(run, retry_after)


def test_two_stops_at_the_same_count_a_window_apart_are_a_quota():
    run = Run()
    quota(run, 150, "40")
    assert run.pace.state.window is None
    quota(run, 150, "45")
    run.deliver(1)
    window = run.pace.state.window
    assert window is not None
    assert window.proved
    assert (window.count, window.seconds) == (pytest.approx(150, abs=3), 60.0)
    assert run.pace.learned == pytest.approx(150 / 60, rel=0.05)


def test_two_stops_at_the_same_count_count_only_if_they_are_a_window_apart():
    run = Run()
    for _ in range(3):
        quota(run, 150, "31")
    run.deliver(3)
    assert run.pace.state.window is None
    assert run.pace.learned is None


@pytest.mark.parametrize("second", [60, 120, 170, 400])
def test_two_stops_at_other_counts_are_none(second: int):
    run = Run()
    quota(run, 150, "40")
    quota(run, second, "40")
    run.deliver(3)
    assert run.pace.state.window is None


def test_where_a_suspected_quota_would_end_requests_go_one_by_one():
    run = Run()
    quota(run, 150, "40")
    run.deliver(149)
    at = run.pace.gate(run.now, 0)
    run.pace.on_send(at, 1)
    assert run.pace.gate(at + 1, 1) > at + 1, "the next one waits for the answer"
    run.pace.on_reply(at + LATENCY, at, 1, 200, {}, LATENCY)
    run.now = at + LATENCY
    run.deliver(30)
    assert run.pace.state.suspect is None, "it took more than a quota would"


def test_a_quota_lets_nothing_through_that_was_sent_after_the_refused_one():
    run = Run()
    run.deliver(150)
    sent = [run.now + place / 100 for place in range(5)]
    for place, moment in enumerate(sent):
        run.pace.on_send(moment, place + 1)
    run.pace.on_reply(run.now + 0.1, sent[0], 1, 429, {"retry-after": "40"}, LATENCY)
    for place, moment in enumerate(sent[1:]):
        run.pace.on_reply(run.now + 0.2, moment, place + 2, 200, {}, LATENCY)
    run.now += 0.2
    run.deliver(3)
    assert run.pace.state.suspect is None


def test_strays_do_not_make_the_looks_for_more_rarer():
    calm, disturbed = holding(20.0), holding(20.0)
    stray(disturbed)
    for run in (calm, disturbed):
        run.deliver(3)
    assert disturbed.pace.state.rate.hold_s == calm.pace.state.rate.hold_s


def remembered(*, firm: bool) -> Pace:
    """What an earlier version kept: a quota, concluded from one refusal or confirmed by two."""
    state = PaceState(rate=Level(known=8.3))
    state.window = Window(499, 60.0, START - 60, START, firm=firm)
    state.settled, state.sent_at = True, START
    return Pace.from_state(msgspec.convert(msgspec.to_builtins(state), PaceState))


def test_a_remembered_quota_that_rests_on_one_refusal_is_forgotten():
    run = Run(remembered(firm=False))
    run.now = START + REST_S + 1
    run.deliver(3)
    assert run.pace.state.window is None
    assert run.pace.learned is None


def test_a_remembered_quota_that_was_confirmed_is_kept():
    run = Run(remembered(firm=True))
    run.now = START + REST_S + 1
    run.deliver(3)
    assert run.pace.state.window is not None
    assert run.pace.learned == 8.3


def test_what_one_refusal_was_taken_for_is_not_a_known_limit_at_the_next_start():
    run = Run()
    run.deliver(200)
    stray(run, "31")
    run.deliver(20)
    again = Run(Pace.from_state(run.pace.remembered()))
    again.now = run.now + 3_600
    again.deliver(3)
    assert again.pace.learned is None
    assert again.pace.state.window is None
    assert again.pace.state.suspect is None


def test_the_evidence_says_that_one_refusal_changed_nothing():
    run = Run()
    run.deliver(200)
    stray(run)
    run.deliver(3)
    line = run.pace.state.evidence[-1]
    assert line.seen.startswith("refused at ")
    assert line.decided == "rate kept: one refusal proves no limit"
