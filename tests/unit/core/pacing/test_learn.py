"""What the end of a stop teaches, one case after the other, on states that were made for it."""

import pytest

from headgate.core.pacing.declared import contradict
from headgate.core.pacing.learn import learn
from headgate.core.pacing.level import Level
from headgate.core.pacing.state import PaceState, Probe, Stop, Window
from headgate.core.pacing.stop import BAN_S, CAP_TRIAL_S, PaceRefusal, refuse
from headgate.core.pacing.trust import BACK_LONGEST_S, settle, unsettle
from headgate.core.pacing.window import is_window, learn_window, sliding_minute

NOW = 1_800_000_000.0


def known(rate: float, *, taken: int = 0, age_s: float = 0.0) -> PaceState:
    """A state that knows a rate, and had a given number of replies a second for a minute."""
    state = PaceState(rate=Level())
    state.rate.set(rate, 8.0, 2.0, 2.5)
    state.rate.age_s = age_s
    state.opened, state.settled = NOW - 60, True
    for second in range(60 * taken):
        state.delivery.add(NOW - 60 + second / taken)
    return state


def stopped(state: PaceState, cut: float, **facts: float) -> PaceState:
    """It was refused at that rate a moment ago, and asked once."""
    at = NOW - 0.2
    made = Stop(first=at, dark=at, last=at, noticed=at + 0.1, previous=NOW - 60, cut=cut)
    for name, value in facts.items():
        setattr(made, name, value)
    state.stop = made
    return state


def test_a_trickle_after_a_look_for_more_falls_back_to_what_was_known_before_it():
    state = stopped(known(50.0), 60.0, first=NOW - 0.6, trickles=1, surprise=True)
    state.probe = Probe(NOW - 10, NOW - 5, 300, 30.0)
    learn(state, NOW)
    assert state.rate.known == pytest.approx(30.0)


def test_a_flood_of_refusals_says_how_far_the_limit_has_fallen():
    state = stopped(known(50.0, taken=50), 50.0, hits=5, surprise=True)
    learn(state, NOW)
    assert state.rate.known == pytest.approx(0.25 * 50)
    assert not state.settled


def test_a_trusted_level_that_held_until_it_fell_is_looked_for_again_soon():
    """No look for more has confirmed it: at low rates looks are minutes apart."""
    state = stopped(known(2.0, taken=2), 2.0, hits=2, surprise=True)
    learn(state, NOW)
    assert state.peak == 2.0
    settle(state, NOW + 10, 0.5, "it has fallen")
    assert state.rate.hold_s <= BACK_LONGEST_S


def test_two_surprises_in_a_row_do_not_make_the_lower_level_the_earlier_limit():
    state = stopped(known(2.0, taken=2), 2.0, hits=2, surprise=True)
    state.opened, state.peak, state.peak_at = NOW - 3, 3.0, NOW - 60
    learn(state, NOW)
    assert state.peak == 3.0


def test_a_limit_that_is_back_is_what_it_was():
    state = stopped(known(12.5, taken=12, age_s=9.0), 60.0)
    state.peak, state.peak_at = 50.0, NOW - 100
    learn(state, NOW)
    assert state.rate.known == 50.0


def test_after_enough_tries_the_level_is_what_came_between_the_stops():
    state = stopped(known(20.0, taken=25), 40.0)
    state.settled, state.tries = False, 4
    learn(state, NOW)
    assert state.rate.known == pytest.approx(25, rel=0.05)
    assert state.settled


def test_where_refusals_have_to_be_earned_a_higher_limit_is_approached_slowly():
    state = stopped(known(20.0, taken=20), 28.0)
    for _ in range(40):
        state.refused.add(NOW - 20)
    learn(state, NOW)
    assert state.rate.known == pytest.approx(1.005 * 20)


def test_a_look_that_ends_in_the_dark_with_all_refused_gives_less_than_the_middle():
    state = stopped(known(20.0, taken=20), 60.0, hits=30, dark=NOW - 0.8)
    state.settled = False
    learn(state, NOW)
    assert state.rate.known == pytest.approx(20, rel=0.05)


def test_a_window_that_is_outgrown_is_none():
    state = stopped(known(5.0), 5.0)
    state.window = Window(300, 60.0, NOW - 60, NOW - 60)
    settle(state, NOW, 6.0, "more")
    assert state.window is None


def test_a_window_that_was_half_empty_did_not_refuse():
    state = stopped(known(5.0, taken=2), 5.0)
    state.window = Window(300, 60.0, NOW - 60, NOW - 60)
    assert not is_window(state, NOW)
    assert state.window is None


def test_a_long_window_that_takes_more_than_it_should_is_a_shorter_one():
    state = stopped(known(5.0, taken=20), 20.0, dark=NOW - 5, last=NOW - 0.2, first=NOW - 5)
    state.window = Window(300, 60.0, NOW - 60, NOW - 59, firm=True)
    learn_window(state, NOW)
    assert state.window is not None
    assert state.window.seconds == 10.0


def test_a_trickle_says_less_about_a_window_than_its_own_edge():
    state = stopped(known(5.0, taken=5), 5.2, trickles=1)
    state.window = Window(300, 60.0, NOW - 60, NOW - 59, firm=True)
    learn_window(state, NOW)
    assert state.window is not None
    assert state.window.count == pytest.approx(300, rel=0.02)


def test_a_refusal_soon_after_a_window_opened_at_most_halves_it():
    state = stopped(known(100.0), 100.0, trickles=1)
    state.window = Window(1000, 10.0, NOW - 10, NOW - 9)
    for place in range(10):
        state.delivery.add(NOW - 0.5 + place / 100)
    learn_window(state, NOW)
    assert state.window is not None
    assert state.window.count == 500


def test_a_window_that_was_fuller_before_is_a_longer_one():
    state = stopped(known(20.0), 20.0, dark=NOW - 5, first=NOW - 5)
    for place in range(240):
        state.delivery.add(NOW - 19 + place / 30)
    for place in range(20):
        state.delivery.add(NOW - 9 + place / 10)
    learn_window(state, NOW)
    assert state.window is not None
    assert state.window.seconds == 60.0


def test_after_a_storm_the_minute_is_the_window_whatever_came_before_it():
    state = stopped(known(1.0, taken=1), 1.0, dark=NOW - 5, first=NOW - 5)
    for place in range(600):
        state.delivery.add(NOW - 110 + place / 20)
    state.wary = Window(60, 60.0, NOW - 60, NOW - 60)
    learn_window(state, NOW)
    assert state.window is not None
    assert state.window.seconds == 60.0


def test_a_refusal_just_below_a_told_limit_asks_for_more_room():
    state = known(10.0, taken=10)
    state.told, state.told_rate, state.told_since = True, 10.0, NOW - 60
    contradict(state, NOW)
    assert state.told
    assert state.rate.margin < 0.985


def crowded(cap: float, *, taken: int, age_s: float) -> PaceState:
    state = known(20.0, taken=taken)
    state.cap = Level(known=cap, hold_s=1_000.0, age_s=age_s)
    return state


def turn_away(state: PaceState, in_flight: int) -> None:
    refuse(state, NOW, PaceRefusal(NOW - 0.1, in_flight, None, asked=False, bare=False))


def test_a_cap_is_lowered_only_when_it_is_doubted_twice():
    state = crowded(8.0, taken=20, age_s=CAP_TRIAL_S)
    turn_away(state, 8)
    assert state.cap is not None
    assert state.cap.known == 8.0
    turn_away(state, 8)
    assert state.cap.known == 7.0
    assert not state.stop.open


def test_a_cap_that_lets_less_through_than_the_rate_did_is_none():
    state = crowded(8.0, taken=10, age_s=CAP_TRIAL_S)
    turn_away(state, 8)
    assert state.cap is None
    assert state.stop.open


def test_a_look_beyond_a_cap_raises_or_confirms_it():
    state = crowded(8.0, taken=20, age_s=2_000.0)
    turn_away(state, 11)
    assert state.cap is not None
    assert state.cap.known == 10.0
    first = state.cap.hold_s
    state.cap.age_s = first
    turn_away(state, 11)
    assert state.cap.known == 10.0
    assert state.cap.hold_s >= first
    assert state.crowd.confirmed == 1


def test_a_first_refusal_after_a_few_answers_says_little_of_the_rate():
    for answers, share in ((3, 0.5), (40, 0.75)):
        state = stopped(PaceState(rate=Level()), 12.0, hits=2)
        for place in range(answers):
            state.delivery.add(NOW - 10 + place / 10)
        learn(state, NOW)
        assert state.rate.known == pytest.approx(share * 12)


def test_near_a_ban_a_flood_below_a_confirmed_level_is_taken_at_its_word():
    for storm, share in ((5, 0.5), (6, 0.25)):
        state = stopped(known(50.0, taken=50), 50.0, hits=5, storm=storm, surprise=True)
        state.confirmed = 2
        learn(state, NOW)
        assert state.rate.known == pytest.approx(share * 50)


def test_near_a_ban_the_next_guess_after_a_trickle_is_low():
    for storm, share in ((5, 0.4), (6, 0.15)):
        facts = {"first": NOW - 0.6, "trickles": 2, "storm": storm, "surprise": True}
        state = stopped(known(50.0), 50.0, **facts)
        learn(state, NOW)
        assert state.rate.known == pytest.approx(share * 50)


def test_a_window_that_refuses_again_and_again_after_its_renewal_is_none():
    for trickles, window in ((1, True), (3, False)):
        state = stopped(known(5.0, taken=5), 5.0, trickles=trickles)
        state.window = Window(300, 60.0, NOW - 10, NOW - 9)
        assert is_window(state, NOW) is window
        assert (state.window is not None) is window


def test_a_short_retry_after_is_suspected_only_where_it_holds_up_many():
    for rate, suspected in ((2.0, False), (20.0, True)):
        state = stopped(known(rate, taken=round(rate)), rate, told_s=2.0, told_until=NOW)
        assert not is_window(state, NOW)
        assert (state.suspect is not None) is suspected


def test_a_suspected_quota_of_any_minute_is_known_by_its_second_stop_however_short_the_wait():
    for count, confirmed in ((300, True), (200, False), (400, False)):
        state = stopped(known(5.0, taken=5), 5.0, told_s=1.0, told_until=NOW + 0.8)
        state.suspect = Window(count, 60.0, NOW - 61, NOW - 60)
        assert is_window(state, NOW) is confirmed
        if confirmed:
            learn_window(state, NOW)
            assert state.window is not None
            assert (state.window.count, state.window.seconds) == (count, 60.0)


def test_stops_in_a_row_count_once_where_a_minute_is_compared():
    state = stopped(known(5.0, taken=5), 5.0)
    for apart_s in (60.0, 60.0, 3.0, 3.0):
        state.stop.previous = state.stop.first - apart_s
        sliding_minute(state)
    assert len(state.full) == 2


def test_where_it_banned_it_looks_for_no_more():
    state = stopped(known(100.0, taken=100), 120.0, storm=8, dark=NOW - 20, first=NOW - 20)
    learn_window(state, NOW)
    assert state.bans == 1
    assert state.rate.most == 120


def test_the_faster_it_goes_the_fewer_refusals_make_it_stay():
    for rate, hold_s in ((10.0, 2.0), (90.0, 11.0)):
        state = stopped(known(rate), rate)
        state.recent = [NOW]
        unsettle(state, NOW, rate, "test")
        assert state.rate.hold_s == hold_s


def asking(asked: int, dark_s: float, wait: float) -> float:
    """How long until the next one asks, when the one before the last was refused just now."""
    state = PaceState(rate=Level(known=50.0))
    state.stop = Stop(
        open=True, alone=True, dark=NOW - dark_s, first=NOW - dark_s, asked=asked, wait=wait
    )
    reading = refuse(state, NOW, PaceRefusal(NOW, 1, None, asked=True, bare=False))
    return reading.retry_in_s


def test_the_end_of_a_usual_window_is_waited_for():
    assert asking(asked=2, dark_s=1.1, wait=0.6) == pytest.approx(1.8)
    assert asking(asked=4, dark_s=7.0, wait=4.0) == pytest.approx(3.5)
    assert asking(asked=6, dark_s=26.0, wait=15.0) == pytest.approx(34.5)


def test_after_a_long_silence_the_first_ones_ask_no_sooner_than_later_ones():
    assert asking(asked=0, dark_s=4.6, wait=0.2) == pytest.approx(4.6)


def stormed(**facts: object) -> PaceState:
    """Nine refusals were heard of at once, and a tenth comes now."""
    state = known(50.0)
    for name, value in facts.items():
        setattr(state, name, value)
    state.recent = [NOW - 0.01] * 9
    state.stop = Stop(open=True, first=NOW - 0.05, dark=NOW - 0.05, last=NOW - 0.05, hits=9)
    refuse(state, NOW, PaceRefusal(NOW - 0.02, 5, None, asked=False, bare=False))
    return state


def test_with_no_refusal_left_before_a_ban_it_rests_unless_a_second_will_do():
    assert stormed(settled=False).stop.ask_at == pytest.approx(NOW - 0.01 + BAN_S)
    assert stormed(settled=True).stop.ask_at == pytest.approx(NOW - 0.05 + 1.1)
