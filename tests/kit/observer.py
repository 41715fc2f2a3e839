"""An observer that remembers."""

from typing import NamedTuple

from headgate.core.item import ClaimedItem
from headgate.core.settlement import Settlement


class Change(NamedTuple):
    """Something that was said to have changed."""

    what: str
    facts: dict[str, object]


class SpyObserver:
    """Keeps everything that passes, in order."""

    def __init__(self) -> None:
        self.verbs: list[str] = []
        self.begun: list[int] = []
        self.settlements: list[Settlement] = []
        self.changes: list[Change] = []

    def verb(self, name: str, seconds: float, rows: int, error: BaseException | None) -> None:
        """A store verb ended."""
        self.verbs.append(name)

    def started(self, item: ClaimedItem, handler: str) -> None:
        """An attempt began."""
        self.begun.append(item.id)

    def ended(self, item: ClaimedItem, handler: str, settlement: Settlement) -> None:
        """An attempt ended, with the decision that followed."""
        self.settlements.append(settlement)

    def changed(self, what: str, **facts: object) -> None:
        """Something about the run changed."""
        self.changes.append(Change(what, facts))
