"""Streams of events: each user may have some open at the same time."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from headgate.app.api.problems import Refusal


class StreamPlaces:
    """Counts the open streams of each user."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: Counter[str] = Counter()

    def demand_room(self, user: str) -> None:
        """Refuse one stream too many."""
        if self._open[user] >= self._most:
            raise Refusal(
                429,
                f"you have {self._most} streams of events open, which is the most: close some",
                {"Retry-After": "5"},
            )

    @contextmanager
    def held(self, user: str) -> Iterator[None]:
        """Count a stream for as long as it is open."""
        self._open[user] += 1
        try:
            yield
        finally:
            self._open[user] -= 1
            if not self._open[user]:
                del self._open[user]
