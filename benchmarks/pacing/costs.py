"""A bucket of tokens of which some requests take more than others; the client is not told."""

from __future__ import annotations

from random import Random

from benchmarks.pacing.limits import Decision, Limit, Policy, TokenBucket


class Costly(Limit):
    """Costs are dealt from a small shuffled deck, so that their mean is the same at any time."""

    DECK = (1, 1, 1, 5)

    def __init__(self, bucket: TokenBucket) -> None:
        super().__init__()
        self._bucket = bucket
        self._rng = Random(1)
        self._deck: list[int] = []

    def rescale(self, now: float, scale: float) -> None:
        self._bucket.rescale(now, scale)

    def decide(self, now: float) -> Decision:
        if not self._deck:
            self._deck = self._rng.sample(self.DECK, len(self.DECK))
        decision = self._bucket.decide(now, self._deck[-1])
        if decision.accepted:
            self._deck.pop()
        return decision

    def rate(self) -> float:
        return self._bucket.rate() * len(self.DECK) / sum(self.DECK)

    def policy(self) -> Policy:
        return self._bucket.policy()
