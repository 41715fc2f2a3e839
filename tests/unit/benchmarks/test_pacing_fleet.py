"""Several processes on one limit, and the store between them."""

from dataclasses import replace

import pytest

from benchmarks.pacing.catalogue import named
from benchmarks.pacing.events import Events
from benchmarks.pacing.experiments.shared import FLEETS
from benchmarks.pacing.fleet import sail
from benchmarks.pacing.ledger import VirtualLedger
from headgate.ports.limits import Proposal

KEY = "provider:any"
EPOCH_S = 1_000.0


class Caller:
    """Keeps what it is told, and when."""

    def __init__(self, events):
        self._events = events
        self.told = []
        self.rung = []

    def then(self, exchange):
        self.told.append((self._events.now, exchange))

    def bell(self):
        self.rung.append(self._events.now)


@pytest.fixture
def events():
    return Events()


@pytest.fixture
def ledger(events):
    return VirtualLedger(events, EPOCH_S, latency_s=0.5)


def test_an_exchange_takes_its_time_and_is_stamped_half_way(events, ledger):
    caller = Caller(events)
    ledger.exchange([], [KEY], caller.then, caller.bell)
    events.run(until=0.4)
    assert caller.told == []
    events.run(until=1.0)
    [(back_at, exchange)] = caller.told
    assert (back_at, exchange.now_s) == (0.5, EPOCH_S + 0.25)
    assert [(entry.version, entry.state) for entry in exchange.entries] == [(0, "")]


def test_of_two_proposals_on_the_same_state_one_is_accepted(events, ledger):
    first, second = Caller(events), Caller(events)
    for caller, state in ((first, "mine"), (second, "theirs")):
        ledger.exchange([Proposal(KEY, 0, state)], [KEY], caller.then, caller.bell)
    events.run(until=1.0)
    [(_, won)], [(_, lost)] = first.told, second.told
    assert (won.accepted, lost.accepted) == ({KEY}, set())
    assert won.entries == lost.entries
    assert (lost.entries[0].version, lost.entries[0].state) == (1, "mine")


def test_an_urgent_change_rings_the_bells_of_the_others(events, ledger):
    speaker, listener = Caller(events), Caller(events)
    for caller in (speaker, listener):
        ledger.subscribe(caller.bell)
    calm = Proposal(KEY, 0, "calm")
    ledger.exchange([calm], [KEY], speaker.then, speaker.bell)
    events.run(until=1.0)
    ledger.exchange([Proposal(KEY, 1, "stop", urgent=True)], [KEY], speaker.then, speaker.bell)
    ledger.exchange([Proposal(KEY, 1, "late", urgent=True)], [KEY], listener.then, listener.bell)
    events.run(until=2.0)
    assert (speaker.rung, listener.rung) == ([], [1.5])


@pytest.mark.parametrize("fleet", FLEETS)
def test_every_process_of_a_fleet_gets_answers(fleet):
    [scenario] = named("tb50 b50 none")
    outcome = sail(replace(scenario, seconds=20.0, workers=4), FLEETS[fleet], 3, 1)
    assert len(outcome.logs) == 3
    assert all(log.answered for log in outcome.logs)
    assert outcome.goodput <= (50 * 20 + 50) / (50 * 20)
    assert 0 <= outcome.refused < 1
    assert 0 < outcome.fairness <= 1
