"""Nobody starves: owners share equally, their jobs by priority."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from headgate.core.turns import Contender, Turns


def shares(contenders: list[Contender], rounds: int = 1_000) -> Counter[int]:
    turns = Turns()
    picked = (turns.next(contenders) for _ in range(rounds))
    return Counter(each.job_id for each in picked if each is not None)


def test_no_contender_no_turn():
    assert Turns().next([]) is None


def test_an_owner_with_many_jobs_gets_no_more_than_one_with_a_single_job():
    crowd = [Contender(number, "crowd") for number in range(9)]
    taken = shares([*crowd, Contender(99, "lonely")])
    assert taken[99] == 500


def test_each_step_of_priority_doubles_a_share():
    taken = shares([Contender(1, "me", 0), Contender(2, "me", 1)], 300)
    assert taken == {1: 100, 2: 200}


def test_a_job_that_left_is_forgotten():
    turns = Turns()
    for _ in range(5):
        turns.next([Contender(1, "me"), Contender(2, "me")])
    assert turns.next([Contender(2, "me")]) == Contender(2, "me")


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(-50, 50)), min_size=1, max_size=6))
def test_everybody_gets_a_turn_whatever_the_priorities(jobs):
    contenders = [Contender(n, owner, priority) for n, (owner, priority) in enumerate(jobs)]
    turns, seen = Turns(), set()
    for _ in range(3 * 6 * 2 ** (2 * Turns.STEPS // 4)):
        picked = turns.next(contenders)
        assert picked is not None
        seen.add(picked.owner)
    assert seen == {owner for owner, _ in jobs}
