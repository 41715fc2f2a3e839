"""A whole database behind one name."""

from types import TracebackType
from typing import Protocol, Self

from headgate.ports.access import AccessStore, LoginStore
from headgate.ports.exports import ExportStore
from headgate.ports.items import ItemStore
from headgate.ports.jobs import HistoryStore, JobStore, RowReads, SituationStore
from headgate.ports.limits import LimitLedger
from headgate.ports.mirrors import MirrorStore
from headgate.ports.reads import ReadStore


class Notifier(Protocol):
    async def ring(self) -> None:
        """Tell every process on this store that something changed."""
        ...

    async def wait(self, timeout_s: float) -> bool:
        """Wait for a notification since the last wait; False when the time ran out."""
        ...


class Store(Protocol):
    @property
    def items(self) -> ItemStore: ...

    @property
    def jobs(self) -> JobStore: ...

    @property
    def reads(self) -> ReadStore: ...

    @property
    def rows(self) -> RowReads: ...

    @property
    def situations(self) -> SituationStore: ...

    @property
    def history(self) -> HistoryStore: ...

    @property
    def access(self) -> AccessStore: ...

    @property
    def logins(self) -> LoginStore: ...

    @property
    def exports(self) -> ExportStore: ...

    @property
    def mirrors(self) -> MirrorStore: ...

    @property
    def limits(self) -> LimitLedger: ...

    @property
    def notifier(self) -> Notifier: ...

    async def __aenter__(self) -> Self:
        """Open; a database without a schema is migrated, an older schema raises StoreMismatch."""
        ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

    async def migrate(self) -> list[str]:
        """Bring the schema up to date, also unopened; return the migrations that were applied."""
        ...

    async def backup(self, target: str) -> None:
        """Write a consistent copy while others work, where the database can do that from here."""
        ...
