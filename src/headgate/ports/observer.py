"""The place through which every verb, attempt, decision and state change passes."""

from typing import Protocol

from headgate.core.item import ClaimedItem
from headgate.core.settlement import Settlement


class Observer(Protocol):
    """Metrics, traces and logs attach here; stores and engine contain no code for them."""

    def verb(self, name: str, seconds: float, rows: int, error: BaseException | None) -> None: ...

    def started(self, item: ClaimedItem, handler: str) -> None: ...

    def ended(self, item: ClaimedItem, handler: str, settlement: Settlement) -> None: ...

    def changed(self, what: str, **facts: object) -> None: ...
