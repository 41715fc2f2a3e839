"""A whole database behind one name."""

from types import TracebackType
from typing import Protocol, Self

from headgate.ports.access import AccessStore, LoginStore
from headgate.ports.exports import ExportStore
from headgate.ports.items import ItemStore
from headgate.ports.job_reads import HistoryStore, RowReads, SituationStore
from headgate.ports.jobs import JobStore
from headgate.ports.limits import LimitLedger
from headgate.ports.reads import ReadStore


class Notifier(Protocol):
    """Ring and listen."""

    async def ring(self) -> None:
        """Tell every process on this store that something changed."""
        ...

    async def wait(self, timeout_s: float) -> bool:
        """Wait for a ring that came since the last wait; False when the time ran out."""
        ...


class Store(Protocol):
    """An open connection to a database, with its sides."""

    @property
    def items(self) -> ItemStore:
        """The hot path."""
        ...

    @property
    def jobs(self) -> JobStore:
        """Control."""
        ...

    @property
    def reads(self) -> ReadStore:
        """Questions."""
        ...

    @property
    def rows(self) -> RowReads:
        """Questions about chosen rows."""
        ...

    @property
    def situations(self) -> SituationStore:
        """How jobs go now."""
        ...

    @property
    def history(self) -> HistoryStore:
        """Items with all that was done about them."""
        ...

    @property
    def access(self) -> AccessStore:
        """Users and tokens."""
        ...

    @property
    def logins(self) -> LoginStore:
        """Tries of logins."""
        ...

    @property
    def exports(self) -> ExportStore:
        """Files that the server makes of jobs."""
        ...

    @property
    def limits(self) -> LimitLedger:
        """What all processes on this database know of each limit."""
        ...

    @property
    def notifier(self) -> Notifier:
        """The bell."""
        ...

    async def __aenter__(self) -> Self:
        """Open; a database without a schema is migrated, an older schema raises StoreMismatch."""
        ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close every connection."""
        ...

    async def migrate(self) -> list[str]:
        """Bring the schema up to date, also unopened; return the migrations that were applied."""
        ...

    async def backup(self, target: str) -> None:
        """Write a consistent copy while others work, where the database can do that from here."""
        ...
