"""After any sequence of proposals and deletions, a ledger agrees with a dictionary."""

import asyncio

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from headgate.ports.limits import LedgerEntry, Proposal

KEYS = ["a", "a%", "a_", "b", "żółć"]
STEPS = st.sampled_from([-1, 0, 0, 0, 1])
"""How far from the true version a proposal is made; mostly not at all."""


class LedgerAgainstModel(RuleBasedStateMachine):
    """Two clients, five gates, and proposals that are now and then outdated."""

    place = None
    """Set by the test: the ledger all runs share, each with gates of its own."""
    runs = 0

    def __init__(self):
        super().__init__()
        type(self).runs += 1
        self.mark = f"{self.runs}/"
        self.loop = asyncio.new_event_loop()
        self.opened = [self.place.open(), self.place.open()]
        self.clients = [self.run(each.__aenter__()) for each in self.opened]
        self.known = {}
        """What a client sees: version and state of every gate."""
        self.counted = {}
        """The version a gate had last, also if it was forgotten since."""
        self.now_s = 0.0

    def run(self, work):
        return self.loop.run_until_complete(work)

    def teardown(self):
        for each in self.opened:
            self.run(each.__aexit__(None, None, None))
        self.loop.close()

    def seen(self, key):
        version, state = self.known.get(key, (0, ""))
        return LedgerEntry(self.mark + key, version, state)

    @rule(
        who=st.integers(0, 1),
        moves=st.dictionaries(st.sampled_from(KEYS), st.tuples(STEPS, st.text("xy%", max_size=3))),
        also=st.sets(st.sampled_from(KEYS)),
    )
    def exchange(self, who, moves, also):
        proposals = [
            Proposal(self.mark + key, max(self.seen(key).version + step, 0), state)
            for key, (step, state) in moves.items()
        ]
        fitting = [
            key
            for key, proposal in zip(moves, proposals, strict=True)
            if proposal.version == self.seen(key).version
        ]
        for key in fitting:
            self.counted[key] = self.counted.get(key, 0) + 1
            self.known[key] = (self.counted[key], moves[key][1])
        named = [self.mark + key for key in sorted(also)]
        exchange = self.run(self.clients[who].exchange(proposals, named))
        assert exchange.accepted == {self.mark + key for key in fitting}
        assert {entry.key: entry for entry in exchange.entries} == {
            self.mark + key: self.seen(key) for key in also | set(moves)
        }
        assert exchange.now_s >= self.now_s
        self.now_s = exchange.now_s

    @rule(who=st.integers(0, 1), key=st.sampled_from(KEYS))
    def forget(self, who, key):
        assert self.run(self.clients[who].forget(self.mark + key)) is (key in self.known)
        if self.known.pop(key, None):
            self.counted[key] += 1

    @invariant()
    def the_list_agrees(self):
        listed = self.run(self.clients[0].entries(self.mark))
        assert listed == [self.seen(key) for key in sorted(self.known)]


def test_a_ledger_agrees_with_the_model_after_any_operations(place):
    machine = type("Machine", (LedgerAgainstModel,), {"place": place})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=20,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
