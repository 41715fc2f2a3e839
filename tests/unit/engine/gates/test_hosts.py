"""Jobs hear of hosts that do not answer, once for each outage, and are held meanwhile."""

from headgate.engine.gates.hosts import HostRecords
from headgate.engine.gates.sync import LedgerTime
from headgate.ports.gate import HostTrouble
from headgate.testing import FakeClock

HOST = "api.example.org"
REFUSED = HostTrouble(20.0, "connection refused")


class Town:
    """A book without gates, and what it told."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.book = HostRecords(lambda _host: iter(()), LedgerTime(self.clock))
        self.told: list[tuple[int, str]] = []
        self.book.on_event = lambda job_id, message: self.told.append((job_id, message))


async def test_an_outage_is_reported_once_and_its_end_too():
    town = Town()
    for _ in range(5):
        town.book.is_down(HOST, REFUSED, 7)
        town.book.keeps_waiting(HOST, 7)
        await town.clock.advance(20.0)
    town.book.is_up(HOST)
    assert town.told == [
        (7, f"{HOST} does not answer (connection refused); next try in 20 s"),
        (7, f"{HOST} answers again, after 100 s"),
    ]


async def test_a_doubt_delays_jobs_but_is_reported_only_if_it_proves_right():
    town = Town()
    doubt = HostTrouble(0.25, "answers 500", doubtful=True)
    town.book.is_down(HOST, doubt, 7)
    for _ in range(HostRecords.HELD_AFTER):
        town.book.keeps_waiting(HOST, 7)
    assert town.book.trials(7) == 0
    await town.clock.advance(0.25)
    assert town.book.trials(7) == 1
    town.book.is_up(HOST)
    assert town.told == []
    town.book.is_down(HOST, doubt, 7)
    town.book.is_down(HOST, HostTrouble(20.0, "answers 500"), 7)
    assert town.told == [(7, f"{HOST} answers 500; next try in 20 s")]


async def test_every_job_that_uses_the_host_gets_the_event():
    town = Town()
    town.book.is_down(HOST, HostTrouble(20.0, "answers 500"), 7)
    town.book.keeps_waiting(HOST, 8)
    town.book.keeps_waiting("other.example", 9)
    town.book.is_up(HOST)
    assert [job_id for job_id, _ in town.told] == [7, 8, 7, 8]
    assert town.told[0][1] == f"{HOST} answers 500; next try in 20 s"


async def test_a_host_that_goes_up_and_down_does_not_flood_the_events():
    town = Town()
    for _ in range(100):
        town.book.is_down(HOST, REFUSED, 7)
        await town.clock.advance(1.0)
        town.book.is_up(HOST)
        await town.clock.advance(2.0)
    assert len(town.told) == 2 * 5  # in five minutes


async def test_an_event_says_when_rows_no_longer_wait_for_the_host():
    town = Town()
    town.book.is_down(HOST, REFUSED, 7)
    await town.clock.advance(1_800.0)
    gone = HostTrouble(30.0, "connection refused", gave_up=True)
    town.book.is_down(HOST, gone, 7)
    town.book.is_down(HOST, gone, 7)
    (_, last) = town.told
    assert last == (
        7,
        f"{HOST} does not answer (connection refused) for 30 min: its rows fail now",
    )
    assert not town.book.is_shut(HOST, 1.0), "its rows are needed, to end"


async def test_a_job_whose_requests_are_all_refused_waits_for_the_next_trial():
    town = Town()
    town.book.is_down(HOST, REFUSED, 7)
    for _ in range(HostRecords.HELD_AFTER - 1):
        town.book.keeps_waiting(HOST, 7)
    assert town.book.trials(7) is None
    town.book.keeps_waiting(HOST, 7)
    assert (town.book.trials(7), town.book.trials(8)) == (0, None)
    await town.clock.advance(20.0)
    assert town.book.trials(7) == 1
    town.book.lets_out(HOST, 7)
    assert town.book.trials(7) == 1, "that was the trial"
    town.book.lets_out("other.example", 7)
    assert town.book.trials(7) is None


async def test_a_job_continues_when_its_host_answers_or_is_given_up():
    town = Town()
    for trouble in (None, HostTrouble(30.0, "connection refused", gave_up=True)):
        town.book.is_down(HOST, REFUSED, 7)
        for _ in range(HostRecords.HELD_AFTER):
            town.book.keeps_waiting(HOST, 7)
        assert town.book.trials(7) == 0
        if trouble is None:
            town.book.is_up(HOST)
        else:
            town.book.is_down(HOST, trouble, 7)
        assert town.book.trials(7) is None
