"""One process's part in a gate that several share."""

import math
from itertools import pairwise

import msgspec
import pytest

from headgate.core.gates.fair_split import ALIVE_S
from headgate.core.gates.shared_limiter import SharedLimiter
from headgate.core.gates.state import GateState, Override
from headgate.core.pacing.pace import UNLIMITED, Pace
from headgate.core.pacing.state import Cause
from headgate.core.rate import Ceilings, Limit

START = 1_800_000_000.0


class Ledger:
    """The shared state, exchanged as text, as it is through a real ledger."""

    def __init__(self) -> None:
        self.text = ""

    @property
    def state(self) -> GateState | None:
        return msgspec.json.decode(self.text, type=GateState) if self.text else None

    def exchange(self, share: SharedLimiter, now: float) -> GateState:
        state = share.merge(self.state, now)
        self.text = msgspec.json.encode(state).decode()
        share.accepted(state, now)
        return state


def send(share: SharedLimiter | Pace, now: float, status: int = 200) -> float:
    """Send one as soon as it may go, and answer it; when it went."""
    at = max(share.gate(now, 0), now)
    share.on_send(at, 1)
    share.on_reply(at + 0.05, at, 1, status, {}, 0.05)
    return at


def joined(*names: str, limits: Ceilings = UNLIMITED) -> tuple[Ledger, list[SharedLimiter]]:
    """Processes that know of one another."""
    ledger = Ledger()
    shares = [SharedLimiter(name, limits) for name in names]
    for _ in range(2):
        for share in shares:
            share.gate(START, 0)
            ledger.exchange(share, START)
    return ledger, shares


def crowded(*names: str) -> tuple[Ledger, list[SharedLimiter]]:
    """The same, each with a waiting request."""
    ledger, shares = joined(*names)
    for _ in range(2):
        for share in shares:
            share.on_send(START, 1)
            assert share.gate(START, 1) > START
            ledger.exchange(share, START)
    return ledger, shares


def test_no_request_is_sent_before_the_first_exchange():
    share = SharedLimiter("me", Ceilings())
    assert share.gate(START, 0) == math.inf
    assert share.why(START) is Cause.LEASE
    assert share.due(START)
    Ledger().exchange(share, START)
    assert share.gate(START, 0) == START


def test_a_single_process_behaves_like_an_unshared_pace():
    ledger, (share,) = joined("me")
    pace = Pace()
    now = START
    for number in range(300):
        status = 429 if number % 90 == 89 else 200
        assert send(share, now, status) == pytest.approx(send(pace, now, status))
        now = max(share.gate(now, 0), now) if not math.isinf(share.gate(now, 0)) else now
        if share.due(now):
            ledger.exchange(share, now)


def test_each_process_gets_an_equal_part():
    _, shares = crowded("a", "b", "c", "d")
    rates = [share.rate(START) for share in shares]
    assert rates == pytest.approx([2.5] * 4, rel=0.1)


def test_an_outdated_proposal_loses_no_event_and_repeats_none():
    ledger, (mine, other) = joined("a", "b")
    send(mine, START + 0.1)
    old = ledger.state
    ledger.exchange(other, START + 1.1)
    mine.merge(old, START + 1.2)  # refused: another process was faster
    assert ledger.state is not None
    mine.seen(ledger.state, START + 1.2)
    state = ledger.exchange(mine, START + 1.3)
    assert state.pace.replies == 1
    assert ledger.exchange(mine, START + 2.4).pace.replies == 1


def test_a_refusal_is_urgent_and_stops_the_others():
    ledger, (mine, other) = joined("a", "b")
    assert not mine.urgent
    send(mine, START + 0.1, 429)
    assert mine.urgent
    assert mine.due(START + 0.2)
    ledger.exchange(mine, START + 0.2)
    assert ledger.state is not None
    other.seen(ledger.state, START + 0.2)
    assert other.gate(START + 0.2, 0) > START + 0.2
    assert not mine.urgent


def test_after_a_stop_one_process_sends_the_trial():
    ledger, (mine, other) = joined("a", "b")
    send(mine, START + 0.1, 429)
    ledger.exchange(mine, START + 0.2)
    assert ledger.state is not None
    later = ledger.state.pace.stop.ask_at + 0.01
    went = 0
    for share in (other, mine):
        assert ledger.state is not None
        share.seen(ledger.state, later)
        assert share.gate(later, 0) > later
        if share.due(later):
            ledger.exchange(share, later)
            went += share.gate(later, 0) <= later
    assert went == 1


def test_an_old_part_is_not_counted():
    _, (mine, _) = joined("a", "b")
    assert mine.gate(START + 10, 0) == math.inf
    assert mine.why(START + 10) is Cause.LEASE


def test_a_process_that_is_gone_leaves_its_part_to_the_others():
    ledger, (mine, _) = crowded("a", "b")
    before = mine.rate(START)
    mine.gate(START + ALIVE_S + 1, 0)
    ledger.exchange(mine, START + ALIVE_S + 1)
    assert mine.rate(START + ALIVE_S + 1) == pytest.approx(2 * before, rel=0.2)


def test_without_a_ledger_it_continues_with_less_but_continues():
    _, (mine, _) = joined("a", "b")
    before = mine.rate(START)
    mine.lost(START + 2)
    assert mine.rate(START + 2) == pytest.approx(before / 2)
    mine.lost(START + 4)
    assert mine.rate(START + 4) == pytest.approx(before / 2)
    assert not math.isinf(mine.gate(START + 4, 0))


def test_without_a_ledger_a_stop_ends_anyway_and_it_asks_no_more_than_once_a_second():
    ledger, (mine, _) = joined("a", "b")
    send(mine, START + 0.1, 429)
    ledger.exchange(mine, START + 0.2)
    assert ledger.state is not None
    later = ledger.state.pace.stop.ask_at + 0.1
    mine.lost(later)
    assert mine.gate(later, 0) == later, "nobody is there to be asked"
    assert not mine.due(later + 0.5)
    assert mine.due(later + SharedLimiter.PERIOD_S)


def test_a_new_process_sends_nothing_before_the_others_know_it():
    ledger, (mine,) = joined("a")
    newcomer = SharedLimiter("b", Ceilings())
    now = START + 0.1
    newcomer.gate(now, 0)
    proposed = newcomer.merge(ledger.state, now)
    assert newcomer.urgent, "the other one is to hear of it at once"
    ledger.exchange(newcomer, now)
    assert newcomer.gate(now, 0) == math.inf
    mine.seen(proposed, now)
    assert mine.gate(now, 0) == math.inf, "from now on it has to book"
    assert mine.due(now + 0.1)
    ledger.exchange(mine, now + 0.1)
    assert newcomer.due(now + 0.1)
    ledger.exchange(newcomer, now + 0.1)
    assert newcomer.gate(now + 0.1, 0) < math.inf


def test_no_two_processes_send_closer_together_than_the_rate_allows():
    rate = 10.0
    ledger, shares = joined("a", "b", "c", limits=Ceilings(limits=(Limit(rate, 1.0),)))
    sent: list[float] = []
    for step in range(200):
        now = START + step * 0.01
        for share in shares:
            if share.gate(now, 0) <= now:
                share.on_send(now, 1)
                share.on_reply(now, now, 1, 200, {}, 0.0)
                sent.append(now)
            if share.due(now):
                ledger.exchange(share, now)
    gaps = [later - before for before, later in pairwise(sorted(sent))]
    assert len(sent) > rate
    assert min(gaps) > 0.5 / rate
    assert sum(gaps) / len(gaps) == pytest.approx(1 / rate, rel=0.3)


def test_a_request_from_before_a_stop_does_not_end_the_stop():
    ledger, (mine, other) = joined("a", "b")
    send(mine, START + 0.1, 429)
    noticed = ledger.exchange(mine, START + 0.16).pace.stop.noticed
    other.on_send(noticed + 0.01, 1)
    other.on_reply(noticed + 0.02, noticed + 0.01, 1, 200, {}, 0.01)
    assert ledger.exchange(other, noticed + 0.02).pace.stop.open


def test_an_expired_override_does_not_apply():
    ledger, (mine,) = joined("a")
    assert ledger.state is not None
    order = Override(paused=True, until=START + 5)
    mine.seen(msgspec.structs.replace(ledger.state, override=order), START)
    assert mine.gate(START, 0) == START + 5
    mine.seen(msgspec.structs.replace(ledger.state, override=order), START + 6)
    assert mine.gate(START + 6, 0) == START + 6
    assert mine.closed_until <= START + 6


def test_a_process_that_leaves_returns_its_part_immediately():
    ledger, (_, other) = crowded("a", "b")
    other.leave()
    assert "b" not in ledger.exchange(other, START + 0.1).members


def test_a_process_that_never_met_the_ledger_continues_as_well():
    share = SharedLimiter("me", Ceilings())
    share.lost(START)
    assert share.gate(START, 0) == START


def test_an_operator_may_pause_and_set_a_rate():
    ledger, (mine, _) = crowded("a", "b")
    assert ledger.state is not None
    paused = msgspec.structs.replace(ledger.state, override=Override(paused=True, until=START + 60))
    mine.seen(paused, START)
    assert mine.gate(START, 0) == START + 60
    assert mine.why(START) is Cause.PAUSED
    slowed = msgspec.structs.replace(ledger.state, override=Override(rate=1.0))
    mine.seen(slowed, START)
    assert mine.rate(START) == pytest.approx(0.5)


def test_a_process_with_another_clock_is_noticed_immediately():
    ledger, [one] = joined("one")
    ledger.exchange(one, START + 1)
    two = SharedLimiter("two", UNLIMITED)
    two.merge(ledger.state, START + 30)
    assert two.urgent
    alone = SharedLimiter("alone", UNLIMITED)
    alone.merge(None, START)
    assert not alone.urgent
