"""The pace of one gate, decision by decision, against replies that the test makes up."""

import math

import msgspec
import pytest

from headgate.core.pacing.pace import Pace
from headgate.core.pacing.state import Cause, PaceState, Window
from headgate.core.pacing.stop import PAUSE_S
from headgate.core.rate import Ceilings, Limit
from tests.kit.pace_run import LATENCY, START, Run


def test_the_first_request_goes_at_once():
    assert Pace().gate(START, 0) == START


def test_an_unknown_provider_is_asked_by_one_request_first():
    pace = Pace(start=1000.0)
    pace.on_send(START, 1)
    assert pace.gate(START + 0.01, 1) == START + 0.01
    pace.on_send(START + 0.01, 2)
    assert pace.gate(START + 0.02, 2) == math.inf
    assert pace.why(START + 0.02) is Cause.REOPENING
    pace.on_reply(START + 0.1, START, 1, 200, {}, 0.1)
    assert pace.gate(START + 0.1, 1) == START + 0.1


def test_requests_are_spaced_and_the_spacing_shrinks_while_nothing_is_refused():
    pace = Pace(start=10.0)
    gaps = []
    at = START
    for _ in range(60):
        pace.on_send(at, 1)
        pace.on_reply(at + 0.01, at, 1, 200, {}, 0.01)
        after = pace.gate(at + 0.01, 0)
        gaps.append(after - at)
        at = after
    assert gaps[0] == pytest.approx(0.1)
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 0.05


def test_idle_time_proves_nothing():
    run = Run()
    run.deliver(20)
    rate = run.pace.rate(run.now)
    run.now += 3600
    run.send()
    assert run.pace.rate(run.now) == pytest.approx(rate, rel=0.05)


def test_nothing_is_saved_up_while_idle():
    run = Run()
    run.deliver(20)
    run.now += 3600
    assert run.pace.gate(run.now, 0) == run.now
    run.pace.on_send(run.now, 1)
    assert run.pace.gate(run.now, 1) >= run.now + 0.9 / run.pace.rate(run.now)


def test_a_refusal_stops_until_the_stated_time():
    run = Run()
    run.send(429, retry_after="7")
    assert run.pace.gate(run.now, 0) == run.now + 7
    assert run.pace.why(run.now) is Cause.RETRY_AFTER
    assert run.pace.closed_until == run.now + 7
    assert run.pace.rate(run.now) == 0


def test_a_date_is_as_good_as_a_number():
    run = Run()
    run.send(
        429,
        retry_after="Fri, 15 Jan 2027 08:01:00 GMT",
        date="Fri, 15 Jan 2027 08:00:30 GMT",
    )
    assert run.pace.gate(run.now, 0) == pytest.approx(run.now + 30)


@pytest.mark.parametrize("absurd", ["0", "-5", "garbage", "Fri, 01 Jan 1999 00:00:00 GMT", "nan"])
def test_an_absurd_wait_is_as_good_as_none(absurd: str):
    run = Run()
    run.deliver(5)
    run.send(429, retry_after=absurd)
    assert 0 < run.pace.gate(run.now, 0) - run.now < 1


def test_a_year_is_not_waited_for():
    run = Run(Pace(Ceilings(longest_wait_s=600.0)))
    run.send(429, retry_after="31536000")
    assert run.pace.gate(run.now, 0) == run.now + 600


def test_all_refusals_of_what_was_on_its_way_are_one_event():
    few, often = Pace(), Pace()
    for pace, refused in ((few, 3), (often, 4)):
        for place in range(6):
            pace.on_send(START + place / 10, place + 1)
        for place in range(6):
            status = 429 if place >= 6 - refused else 200
            pace.on_reply(START + 0.5, START + place / 10, place + 1, status, {}, 0.2)
    asked = START + 2
    for pace in (few, often):
        assert pace.gate(asked, 0) == asked
        pace.on_send(asked, 1)
        pace.on_reply(asked + LATENCY, asked, 1, 200, {}, LATENCY)
    assert often.learned is not None
    assert often.learned == pytest.approx(few.learned, rel=0.05)


def test_a_stop_is_asked_out_of_by_one_request_at_a_time():
    run = Run()
    run.deliver(30)
    for _ in range(3):
        run.send(429)
    at = run.pace.gate(run.now, 0)
    run.pace.on_send(at, 1)
    assert run.pace.gate(at + 0.01, 1) == math.inf
    assert run.pace.gate(at + 0.01, 0) > at + 1, "also where it is not counted as in flight"
    run.pace.on_reply(at + LATENCY, at, 1, 200, {}, LATENCY)
    assert math.isfinite(run.pace.gate(at + LATENCY, 0))


def test_a_request_without_an_answer_does_not_block_the_gate():
    run = Run()
    run.deliver(30)
    for _ in range(3):
        run.send(429)
    at = run.pace.gate(run.now, 0)
    run.pace.on_send(at, 1)
    run.pace.on_reply(at + 30, at, 1, 0, {}, 30.0)
    assert run.pace.gate(at + 30, 0) == at + 30


def test_each_further_refusal_makes_the_asking_rarer():
    run = Run()
    run.deliver(30)
    waits = []
    for _ in range(6):
        run.send(429)
        waits.append(run.pace.gate(run.now, 0) - run.now)
    assert waits == sorted(waits)
    assert waits[-1] > 5 * waits[0]


def test_the_rate_falls_after_a_refusal_and_rises_again_much_later():
    run = Run()
    run.deliver(50)
    before = run.pace.rate(run.now)
    for _ in range(2):
        run.send(429)
        run.deliver(10)
    after = run.pace.rate(run.now)
    assert after < before
    run.for_seconds(120)
    assert run.pace.rate(run.now) > after


def test_a_bare_503_is_a_refusal_at_first():
    run = Run()
    run.deliver(20)
    assert run.pace.on_reply(run.now, run.now - LATENCY, 1, 503, {}, LATENCY).refused
    assert run.pace.why(run.now) is Cause.STOPPED


def test_503s_that_come_at_any_rate_are_not_refusals():
    run = Run()
    run.for_seconds(60)
    before = run.pace.rate(run.now)
    refused = 0
    for turn in range(400):
        at = run.pace.gate(run.now, 0)
        run.pace.on_send(at, 1)
        run.now = at + LATENCY
        reading = run.pace.on_reply(run.now, at, 1, 503 if turn % 2 else 200, {}, LATENCY)
        refused += reading.refused
    assert refused < 60
    assert run.pace.rate(run.now) > before / 3


def test_other_errors_say_nothing_about_the_rate():
    run = Run()
    for turn in range(100):
        run.send(500 if turn % 3 else 404)
    assert run.pace.learned is None
    assert run.pace.refused_share == 0


def test_a_status_that_the_provider_lists_is_a_refusal():
    run = Run(Pace(Ceilings(refusals=(403, 503))))
    run.deliver(5)
    assert run.pace.on_reply(run.now, run.now - LATENCY, 1, 403, {}, LATENCY).refused


def test_a_quota_that_is_only_renewed_by_time_is_recognised():
    run = Run()
    run.deliver(100)
    run.send(429, retry_after="40")
    run.deliver(10)
    assert run.pace.state.window is None, "one refusal proves nothing"
    run.deliver(90)
    run.send(429, retry_after="50")
    run.deliver(10)
    window = run.pace.state.window
    assert window is not None
    assert (window.count, window.seconds) == (pytest.approx(100, abs=3), 60.0)
    assert run.pace.learned == pytest.approx(100 / 60, rel=0.05)


def test_the_evidence_is_kept_but_not_forever():
    run = Run()
    for _ in range(100):
        run.deliver(5)
        run.send(429)
    evidence = run.pace.remembered().evidence
    assert 10 < len(evidence) <= 40
    assert evidence[-1].at > evidence[0].at
    assert all(line.seen and line.decided for line in evidence)


def test_the_state_stays_small():
    run = Run()
    for turn in range(5_000):
        run.send(429 if turn % 50 == 49 else 200)
    assert len(msgspec.json.encode(run.pace.remembered())) < 10_000


def test_the_tightest_of_several_ceilings_counts():
    pace = Pace(Ceilings(limits=(Limit(10.0, 1.0), Limit(100.0, 60.0))))
    run = Run(pace)
    run.for_seconds(120)
    assert run.for_seconds(60) <= 101
    assert pace.configured == pytest.approx(100 / 60)
    assert pace.why(run.now) is Cause.CEILING


def test_a_burst_goes_out_at_once_where_it_is_configured():
    pace = Pace(Ceilings(limits=(Limit(2.0, 1.0),), burst=5), start=1000.0)
    sent = 0
    while pace.gate(START + sent * 0.001, sent) <= START + sent * 0.001:
        pace.on_send(START + sent * 0.001, sent + 1)
        sent += 1
    assert sent == 5


def test_a_configured_concurrency_is_a_cap():
    pace = Pace(Ceilings(concurrency=3))
    assert pace.gate(START, 3) == math.inf
    assert pace.why(START) is Cause.CONCURRENCY
    assert pace.cap == 3


def test_refusals_of_crowds_alone_are_a_cap_on_what_is_in_flight():
    run = Run()
    run.deliver(50)
    run.send(429)
    run.deliver(100)
    pace = run.pace
    for _ in range(4):
        for _ in range(30):
            run.send()
        pace.on_reply(run.now, run.now - LATENCY, 12, 429, {}, LATENCY)
    assert pace.cap is not None
    assert 9 <= pace.cap <= 12
    assert not pace.state.stop.open


def test_the_state_survives_being_written_down():
    run = Run()
    for turn in range(60):
        run.send(429 if turn % 20 == 19 else 200)
    written = msgspec.json.encode(run.pace.remembered())
    again = Pace.from_state(msgspec.json.decode(written, type=PaceState))
    assert again.remembered() == run.pace.remembered()
    assert again.gate(run.now + 1, 0) == run.pace.gate(run.now + 1, 0)


def test_what_is_remembered_does_not_change_with_the_pace():
    run = Run()
    run.deliver(10)
    before = run.pace.remembered()
    written = msgspec.json.encode(before)
    run.send(429)
    assert msgspec.json.encode(before) == written


def test_a_stop_lasts_a_while_even_where_answers_come_at_once():
    pace = Pace()
    pace.state.latency = 0.001
    pace.on_send(START, 1)
    pace.on_reply(START + 0.001, START, 1, 200, {}, 0.001)
    pace.on_send(START + 0.1, 1)
    pace.on_reply(START + 0.101, START + 0.1, 1, 429, {}, 0.001)
    assert pace.gate(START + 0.101, 0) >= START + 0.101 + PAUSE_S


def test_where_answers_come_at_once_it_grows_faster():
    near, far = Pace(), Pace()
    for pace, latency in ((near, 0.001), (far, 0.15)):
        now = START
        while now < START + 8:
            pace.on_send(now, 1)
            pace.on_reply(now, now, 1, 200, {}, latency)
            now = max(now, pace.gate(now, 0))
    assert near.rate(START + 8) > 3 * far.rate(START + 8)


def test_a_window_of_a_second_that_is_full_is_not_a_trickle():
    pace = Pace(start=50.0)
    now = START
    for _ in range(60):
        now = max(now, pace.gate(now, 0))
        pace.on_send(now, 1)
        pace.on_reply(now + 0.001, now, 1, 200, {}, 0.001)
    before = pace.rate(now)
    for _ in range(2):
        now = max(now, pace.gate(now, 0))
        pace.on_send(now, 1)
        pace.on_reply(now + 0.001, now, 1, 429, {}, 0.001)
        now += 0.001
    now = max(now, pace.gate(now, 0))
    pace.on_send(now, 1)
    pace.on_reply(now + 0.001, now, 1, 200, {}, 0.001)
    assert pace.learned is not None
    assert 0.6 * before < pace.learned < before


def test_a_window_that_takes_more_than_was_known_is_outgrown():
    run = Run()
    run.pace.state.rate.set(5.0, 0.0, 1.0, 1.0)
    run.pace.state.window = Window(20, 10.0, START - 10, START - 10, firm=True)
    run.for_seconds(60)
    window = run.pace.state.window
    assert window is None or window.count > 25
    assert run.pace.learned is not None
    assert run.pace.learned > 5
