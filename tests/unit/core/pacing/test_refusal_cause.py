"""Distinguishing a limit on concurrency from a limit on the rate."""

from headgate.core.pacing.refusal_cause import ConcurrencyEvidence


def crowd(taken: dict[int, int], *refused: int) -> ConcurrencyEvidence:
    made = ConcurrencyEvidence()
    for in_flight, times in taken.items():
        for _ in range(times):
            made.took(in_flight)
    for in_flight in refused:
        made.refuse(in_flight)
    return made


def test_crowds_that_are_refused_thrice_and_rarely_taken_are_a_cap():
    seen = crowd({5: 97, 10: 3}, 10, 12, 11)
    assert seen.enough
    assert seen.limit(steady=True) == 10


def test_on_the_way_up_every_crowd_is_rare():
    assert crowd({5: 97, 10: 3}, 10, 12, 11).limit(steady=False) is None


def test_crowds_that_are_often_taken_are_none():
    assert crowd({5: 90, 10: 10}, 10, 12, 11).limit(steady=True) is None


def test_crowds_that_were_never_taken_need_only_two_refusals():
    assert crowd({8: 400}, 9).limit(steady=False) is None
    assert crowd({8: 400}, 9, 9).limit(steady=False) == 9


def test_never_among_few_says_nothing():
    assert crowd({8: 20}, 9, 9).limit(steady=False) is None


def test_two_requests_in_flight_prove_no_concurrency_limit():
    assert crowd({2: 400}, 3, 3, 3).limit(steady=True) is None
    assert crowd({3: 400}, 4, 4, 4).limit(steady=True) == 4


def test_only_the_last_refusals_count():
    assert crowd({5: 400}, 4, 20, 21, 22).limit(steady=True) == 20


def test_what_was_long_ago_fades():
    seen = crowd({5: 2 * ConcurrencyEvidence.KEEP + 1, 6: 1})
    assert seen.total <= ConcurrencyEvidence.KEEP + 2
    assert seen.total == sum(seen.taken.values())
