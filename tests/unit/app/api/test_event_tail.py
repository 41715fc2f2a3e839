"""Events reach a listener once each, also events that are committed late."""

from headgate.app.api.change_feed import EventTail
from headgate.ports.reads import EventQuery, EventRow
from headgate.testing import FakeClock


class Events:
    """A table of events, in which rows appear in any order."""

    def __init__(self, *ids: int) -> None:
        self.ids = set(ids)

    async def events(self, query: EventQuery) -> list[EventRow]:
        found = sorted(number for number in self.ids if number > query.after_id)
        return [EventRow(each, 0, None, None, "k", "m") for each in found[: query.limit]]


async def told(record: EventTail) -> list[int]:
    return [row.id for row in await record.fresh()]


async def test_each_event_is_reported_once():
    events = Events(1, 2, 3)
    record = EventTail(events, FakeClock(), EventQuery(), 1)
    assert await told(record) == [2, 3]
    assert await told(record) == []
    events.ids.add(4)
    assert await told(record) == [4]


async def test_an_event_that_is_committed_late_is_still_reported():
    events, clock = Events(1, 3), FakeClock()
    record = EventTail(events, clock, EventQuery(), 0)
    assert await told(record) == [1, 3]
    await clock.advance(EventTail.LATE_S / 2)
    events.ids.add(2)
    assert await told(record) == [2]
    assert await told(record) == []


async def test_old_events_are_not_read_again():
    events, clock = Events(1, 3), FakeClock()
    record = EventTail(events, clock, EventQuery(), 0)
    await told(record)
    await clock.advance(EventTail.LATE_S + 1)
    await told(record)
    assert record._floor == 3
    assert record._returned == {}


async def test_a_backlog_is_read_page_by_page():
    events = Events(*range(1, 3 * EventTail.PAGE))
    record = EventTail(events, FakeClock(), EventQuery(), 0)
    assert await told(record) == list(range(1, 3 * EventTail.PAGE))
