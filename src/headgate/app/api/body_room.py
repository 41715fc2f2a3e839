"""How many bytes of bodies may be in memory at the same time."""

from collections import Counter

from headgate.app.api.problems import Refusal

SHARE = 4
"""A user has one part in so many."""


class BodyRoom:
    """The bytes of bodies that may be in memory, in total and for one owner."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: Counter[str] = Counter()

    def take(self, owner: str, size: int) -> None:
        """Count bytes that came; 429 or 503 if there is no room for them."""
        if self._held[owner] + size > self._most // SHARE:
            raise Refusal(
                429, "your requests that are under way hold too much; send one after the other"
            )
        if self._held.total() + size > self._most:
            raise Refusal(503, "too many large requests are under way", {"Retry-After": "5"})
        self._held[owner] += size

    def free(self, owner: str, size: int) -> None:
        """Count them no more."""
        self._held[owner] -= size
        if self._held[owner] <= 0:
            del self._held[owner]
