"""The buffer hands out leased items in order, and gives them up when it must."""

from headgate.core.item import ClaimedItem
from headgate.engine.buffer import Buffer


def claimed(item_id: int, job_id: int = 1, strategy: int = 0) -> ClaimedItem:
    return ClaimedItem(item_id, job_id, str(item_id), "{}", None, 1, 0, 0, 0, strategy, False, 0)


def filled(*items: ClaimedItem, at_s: float = 10.0) -> Buffer:
    buffer = Buffer()
    buffer.put(list(items), at_s)
    return buffer


async def test_items_come_out_in_the_order_of_their_claim():
    buffer = filled(claimed(1), claimed(2))
    assert buffer.take() == (claimed(1), 10.0)
    assert buffer.take() == (claimed(2), 10.0)
    assert buffer.take() is None


async def test_a_pack_takes_only_neighbours_of_one_job_and_strategy():
    first, *rest = [claimed(1), claimed(2), claimed(3, strategy=1), claimed(4)]
    buffer = filled(*rest)
    assert [item.id for item in buffer.take_like(first, 9)] == [2]
    assert len(buffer) == 2


async def test_items_that_waited_too_long_are_dropped_and_the_others_stay():
    buffer = filled(claimed(1), claimed(2), at_s=10.0)
    buffer.put([claimed(3)], 20.0)
    assert [item.id for item in buffer.remove_claimed_before(20.0)] == [1, 2]
    assert buffer.take() == (claimed(3), 20.0)


async def test_a_job_can_be_taken_out():
    buffer = filled(claimed(1), claimed(2, job_id=2), claimed(3))
    assert [item.id for item in buffer.remove_job(1)] == [1, 3]
    assert buffer.job_ids() == {2}
