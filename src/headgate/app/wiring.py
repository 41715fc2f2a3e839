"""Opens the store that the settings name, without importing the others.

Its gates may be shared through a Redis server instead.
"""

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self, cast
from urllib.parse import unquote

from headgate.app.settings import Settings
from headgate.app.telemetry import logger
from headgate.core.errors import BadSetting, StoreError, StoreUnreachable
from headgate.core.redact_values import without_secrets
from headgate.ports.limits import LimitLedger
from headgate.ports.store import Store


class OpenLedger(LimitLedger, Protocol):
    async def __aenter__(self) -> Self:
        """Connect; raises StoreUnreachable."""
        ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...


class StoreWithLedger:
    """A store with its limits replaced by another ledger."""

    def __init__(self, store: Store, ledger: OpenLedger) -> None:
        self._store = store
        self._ledger = ledger
        self.items = store.items
        self.jobs = store.jobs
        self.reads = store.reads
        self.rows = store.rows
        self.history = store.history
        self.situations = store.situations
        self.access = store.access
        self.logins = store.logins
        self.exports = store.exports
        self.mirrors = store.mirrors
        self.notifier = store.notifier
        self.limits: LimitLedger = ledger

    async def __aenter__(self) -> Self:
        """Open both. Gates work without the ledger, with smaller shares: its failure only warns."""
        await self._store.__aenter__()
        try:
            await self._ledger.__aenter__()
        except StoreUnreachable as error:
            logger().warning("gates.ledger_unreachable", error=str(error))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._ledger.__aexit__(kind, error, traceback)
        await self._store.__aexit__(kind, error, traceback)

    async def migrate(self) -> list[str]:
        return await self._store.migrate()

    async def backup(self, target: str) -> None:
        await self._store.backup(target)


class StoreKind(NamedTuple):
    """Module and class of a store, its constructor argument, and the extra it needs."""

    module: str
    name: str
    argument: Callable[[str], str]
    extra: str | None = None


def sqlite_path(url: str) -> str:
    """The file in `sqlite:///relative`, `sqlite:////absolute` or a bare path."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        return url
    path = unquote(rest.partition("?")[0].removeprefix("/"))
    if not path:
        raise BadSetting(f"{scheme}:// has no file name; write sqlite:///headgate.db")
    return path


STORES: Mapping[str, StoreKind] = {
    "sqlite": StoreKind("headgate.stores.sqlite.store", "SqliteStore", sqlite_path),
    "postgresql": StoreKind("headgate.stores.postgres.store", "PostgresStore", str, "postgres"),
}
REDIS = StoreKind("headgate.stores.redis", "RedisLimits", str, "redis")
ALIASES = {"": "sqlite", "sqlite3": "sqlite", "postgres": "postgresql"}


def open_store(settings: Settings) -> Store:
    url = settings.database_url
    kind = STORES[store_kind(url)]
    store = cast("Store", _class_of(kind)(kind.argument(url)))
    if not settings.gates.ledger:
        return store
    return StoreWithLedger(store, cast("OpenLedger", _class_of(REDIS)(settings.gates.ledger)))


def missing_file(settings: Settings) -> Path | None:
    """The SQLite file that the settings name, if it does not exist."""
    if store_kind(settings.database_url) != "sqlite":
        return None
    path = Path(sqlite_path(settings.database_url))
    return None if path.exists() else path


def emptied_file(settings: Settings) -> Path | None:
    """The SQLite file that the settings name, if it exists and is empty.

    Raises StoreError if its write-ahead log has changes: opening the file would remove them.
    """
    if store_kind(settings.database_url) != "sqlite":
        return None
    path = Path(sqlite_path(settings.database_url))
    if not path.is_file() or path.stat().st_size:
        return None
    changes = path.with_name(f"{path.name}-wal")
    if changes.is_file() and changes.stat().st_size:
        raise StoreError(
            f"{path} has 0 bytes, but {changes.name} beside it has changes to its earlier content:"
            " restore a backup, or remove both files to begin a new store"
        )
    return path


def store_kind(url: str) -> str:
    scheme = url.partition("://")[0].lower() if "://" in url else ""
    name = ALIASES.get(scheme, scheme)
    if name not in STORES or not url:
        raise BadSetting(
            f"unknown store {without_secrets(url)!r}; use sqlite:///FILE or postgresql://USER@HOST/NAME"
        )
    return name


def _class_of(kind: StoreKind) -> Callable[[str], Any]:
    # Imported by name, so that the base install works without the extra and starts faster.
    try:
        module = importlib.import_module(kind.module)
    except ModuleNotFoundError as error:
        if kind.extra is None or (error.name or "").startswith("headgate."):
            raise
        raise BadSetting(
            f'this needs {error.name}: pip install "headgate[{kind.extra}]"'
        ) from error
    return cast("Callable[[str], Any]", getattr(module, kind.name))
