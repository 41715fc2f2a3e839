"""Owners share equally, their jobs by priority, and no owner starves."""

from collections import Counter, deque

from headgate.core.fair_turns import Contender, Slots, Turns, Waiting, by_user


def shares(contenders: list[Contender], rounds: int) -> Counter[int]:
    turns = Turns()
    chosen = [turns.next(contenders) for _ in range(rounds)]
    return Counter(each.job_id for each in chosen if each is not None)


def test_without_contenders_no_turn_is_given():
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


def test_an_owner_without_jobs_saves_up_no_turns():
    turns = Turns()
    one, two = Contender(1, "a"), Contender(2, "b")
    for _ in range(50):
        turns.next([one])
    order = [each.job_id for _ in range(6) if (each := turns.next([one, two]))]
    assert Counter(order) == {1: 3, 2: 3}


def served(slots: Slots, lines: dict[str, int], finished: int = 0) -> list[str]:
    """Who gets slots while users have requests waiting; after each turn the oldest ones finish."""
    order: list[str] = []
    running: deque[str] = deque()
    while (user := slots.next([name for name, left in lines.items() if left])) is not None:
        slots.take(user)
        lines[user] -= 1
        order.append(user)
        running.append(user)
        for _ in range(min(finished, len(running))):
            slots.give_back(running.popleft())
    return order


def test_one_user_never_gets_all_slots():
    slots = Slots(total=4, per_user=2)
    assert served(slots, {"ann": 300}) == ["ann", "ann"]
    assert served(slots, {"bob": 1}) == ["bob"]


def test_no_more_than_the_total_are_in_use():
    assert len(served(Slots(total=3, per_user=2), dict.fromkeys("abcd", 2))) == 3


def test_users_take_turns_however_long_their_lines_are():
    order = served(Slots(total=1, per_user=1), {"ann": 6, "bob": 2, "cem": 1}, finished=1)
    assert order == ["ann", "bob", "cem", "ann", "bob", "ann", "ann", "ann", "ann"]


def test_a_new_user_is_served_before_users_with_slots():
    slots = Slots(total=3, per_user=3)
    assert served(slots, {"ann": 2}) == ["ann", "ann"]
    assert served(slots, {"ann": 5, "bob": 1}) == ["bob"]


def test_a_slot_that_is_given_back_can_be_used_again():
    slots = Slots(total=1, per_user=1)
    slots.take("ann")
    assert slots.next(["ann", "bob"]) is None
    slots.give_back("ann")
    assert slots.next(["ann", "bob"]) == "bob"


def test_users_who_are_gone_are_forgotten():
    slots = Slots(total=1, per_user=1)
    for number in range(1_000):
        user = f"user {number}"
        assert slots.next([user]) == user
        slots.take(user)
        slots.give_back(user)
    slots.next([])
    assert slots._last_turn == {}


def test_work_is_listed_for_each_user_in_its_order():
    waiting = [Waiting(1, "ann"), Waiting(2, "bob"), Waiting(3, "ann")]
    assert by_user(waiting) == {"ann": [1, 3], "bob": [2]}
