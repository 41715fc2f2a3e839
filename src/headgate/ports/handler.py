"""What is done with an item, and what it is told about its surroundings."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from headgate.core.errors import UsageError
from headgate.core.item import Item
from headgate.core.outcome import Outcome
from headgate.core.provider import ProviderPolicy
from headgate.ports.http import Http

Result = Mapping[str, Any] | Outcome | None


class Logger(Protocol):
    """The part of a structlog logger that handlers use."""

    def debug(self, event: str, **facts: object) -> object:
        """Log detail."""
        ...

    def info(self, event: str, **facts: object) -> object:
        """Log news."""
        ...

    def warning(self, event: str, **facts: object) -> object:
        """Log something odd."""
        ...

    def error(self, event: str, **facts: object) -> object:
        """Log a failure."""
        ...


class JobView(msgspec.Struct, frozen=True):
    """What a handler may know of its job."""

    id: int
    name: str
    owner: str
    config: Mapping[str, Any]


class Context(msgspec.Struct):
    """The surroundings of one attempt."""

    job: JobView
    attempt: int
    """1 for the first execution that counts."""
    strategy: str | None
    """The query variant to try now, from the handler's `strategies`."""
    log: Logger
    _open: Callable[[], Http] | None = None
    _http: Http | None = None

    @property
    def http(self) -> Http:
        """The polite client: cached, paced, capped, retried, recorded.

        In a plain `def` handler its methods return their answer at once instead of being awaited.
        """
        if self._http is None:
            if self._open is None:
                raise UsageError("there is no HTTP client here; pass one to `run_handler(http=…)`")
            self._http = self._open()
        return self._http

    def spend(self, **cost: float) -> None:
        """What the last request really cost, where an estimate was reserved: `tokens=812`."""
        self.http.spend(cost)


class HandlerSpec(msgspec.Struct, frozen=True):
    """A handler and its declared options."""

    name: str
    reference: str
    """How another process finds it: a name, `module:function` or `/path/file.py:function`."""
    call: Callable[..., Result | Sequence[Result] | Awaitable[Result | Sequence[Result]]]
    is_async: bool
    provider: str | None = None
    gate_of: Callable[[Mapping[str, Any]], str] | None = None
    strategies: tuple[str, ...] = ()
    normalize: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    pack: int | None = None
    timeout_s: float | None = None
    memory_mb: int | None = None
    limits: ProviderPolicy | None = None
    """What the handler itself declares of its provider."""
    guarded: bool = False
    """It asks addresses that come from data, so private ones are refused."""


class HandlerLookup(Protocol):
    """Finds handlers by reference."""

    def __call__(self, reference: str) -> HandlerSpec:
        """The handler, or UnknownHandler saying what was tried."""
        ...


ItemHandler = Callable[[Item, Context], Result | Awaitable[Result]]
