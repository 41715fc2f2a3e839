"""Crawlee's rule: a refusal freezes the whole domain; there is no pacing."""

from __future__ import annotations

from benchmarks.pacing.reading import retry_after
from benchmarks.pacing.rules.rule import Reply, Rule


class Crawlee(Rule):
    """Freeze for Retry-After, else for 2 s doubling with every refusal; an answer resets that."""

    CAP_S = 60.0

    def __init__(self) -> None:
        self._frozen_until = 0.0
        self._refusals = 0

    def gate(self, now: float, in_flight: int) -> float:
        return max(now, self._frozen_until)

    def on_reply(self, reply: Reply) -> None:
        if reply.refused:
            self._refusals += 1
            told = retry_after(reply.headers)
            doubled = 2.0 * 2 ** min(self._refusals - 1, 6)
            self._frozen_until = reply.now + min(self.CAP_S, doubled if told is None else told)
        elif reply.status == 200:
            self._refusals = 0

    def retry_delay(self, attempts: int, reply: Reply) -> float:
        return 0.0
