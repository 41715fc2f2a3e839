"""Owners share equally, their jobs by priority, and nobody starves."""

from collections import Counter

from headgate.core.fair_turns import Contender, Turns


def shares(contenders: list[Contender], rounds: int) -> Counter[int]:
    turns = Turns()
    chosen = [turns.next(contenders) for _ in range(rounds)]
    return Counter(each.job_id for each in chosen if each is not None)


def test_nobody_there_means_nobody_chosen():
    assert Turns().next([]) is None


def test_owners_share_equally_however_many_jobs_they_have():
    crowd = [Contender(n, "crowd") for n in range(1, 10)]
    assert shares([*crowd, Contender(99, "single")], 180)[99] == 90


def test_a_step_of_priority_doubles_a_jobs_share():
    assert shares([Contender(1, "a", 1), Contender(2, "a", 0)], 300) == {1: 200, 2: 100}


def test_the_lowest_priority_is_served_too():
    assert shares([Contender(1, "a", 5), Contender(2, "a", -5)], 1_025)[2] == 1


def test_turns_alternate_instead_of_clumping():
    turns = Turns()
    pair = [Contender(1, "a"), Contender(2, "b")]
    order = [each.job_id for _ in range(6) if (each := turns.next(pair))]
    assert order == [1, 2, 1, 2, 1, 2]


def test_who_was_away_does_not_come_back_with_savings():
    turns = Turns()
    one, two = Contender(1, "a"), Contender(2, "b")
    for _ in range(50):
        turns.next([one])
    order = [each.job_id for _ in range(6) if (each := turns.next([one, two]))]
    assert Counter(order) == {1: 3, 2: 3}
