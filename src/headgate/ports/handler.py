"""What is done with an item, and what it is told about its surroundings."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from headgate.core.errors import UsageError
from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.item import Item
from headgate.core.outcome import Outcome
from headgate.core.provider import ProviderPolicy
from headgate.ports.artifacts import Artifacts
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


Files = Callable[[str], Path]
"""Finds stored bytes by name: ValueError for what is no name, FileNotFoundError when gone."""
JobFiles = Callable[["JobView", str], Path]
"""The same for the bytes that belong to a job."""
Folders = Callable[[str], Awaitable[Artifacts]]
"""Opens the output folder at a path, once for each process; FolderTrouble if it cannot."""


class NoFile(AttemptOver):
    """The stored bytes that an item names are not there; no retry will change that."""

    def __init__(self, ref: str, problem: str) -> None:
        super().__init__(Fault(FaultClass.PERMANENT, f"stored file {ref[:80]!r}: {problem}"))


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
    _files: Files | None = None
    _folders: Folders | None = None

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

    def file(self, ref: str) -> Path:
        """Where the stored bytes lie that a row names by `ref`, such as an image; to be read only.

        Left to itself, what it raises when they are not there ends the item as a permanent error.
        """
        if self._files is None:
            raise UsageError("there are no stored files here; pass them to `run_handler(files=…)`")
        try:
            return self._files(ref)
        except ValueError as error:
            raise NoFile(
                ref, "this is no name of one; give the value of the column `ref`"
            ) from error
        except FileNotFoundError as error:
            raise NoFile(ref, "it is gone; upload it again") from error

    def folder(self, path: str) -> Awaitable[Artifacts]:
        """The folder at this path, for files that appear in it whole; FolderTrouble if it is none.

        Every attempt of a process gets the same one, which is closed with the process.
        """
        if self._folders is None:
            raise UsageError("there are no folders here; pass them to `run_handler(folders=…)`")
        return self._folders(path)


class HandlerSpec(msgspec.Struct, frozen=True):
    """A handler and its declared options."""

    name: str
    reference: str
    """How another process finds it: a name, `module:function`, `/path/file.py:function`, a TOML."""
    call: Callable[..., Result | Sequence[Result] | Awaitable[Result | Sequence[Result]]]
    is_async: bool
    provider: str | None = None
    gate_of: Callable[[Mapping[str, Any]], str] | None = None
    key_of: Callable[[Mapping[str, Any]], str] | None = None
    """Names what a row asks for, unless the job names its rows by columns. Rows that ask for the
    same are done once: the others are SKIPPED when they are read."""
    strategies: tuple[str, ...] = ()
    normalize: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    pack: int | None = None
    timeout_s: float | None = None
    memory_mb: int | None = None
    limits: ProviderPolicy | None = None
    """What the handler itself declares of its provider."""
    providers: Mapping[str, ProviderPolicy] = {}
    """Services that it asks beside that, with what holds for them in the end."""
    guarded: bool = False
    """It asks addresses that come from data, so private ones are refused."""
    described: bool = False
    """The config of its job describes it; others were installed by the operator."""
    about: str = ""
    """What it does, in a line."""
    version: str = ""
    """Changes when the same input may give another result."""
    needs: tuple[str, ...] = ()
    """The columns that a row must have."""
    asks: tuple[str, ...] = ()
    """The addresses that it asks for every row, such as `https://api.example.org`."""
    paths: Mapping[str, str] = {}
    """Where in a reply the columns of the result come from, for a handler that is described."""
    config_schema: Mapping[str, Any] | None = None
    """What its jobs may be configured with, as JSON Schema."""
    for_job: "Callable[[Mapping[str, Any]], HandlerSpec] | None" = None
    """Makes the handler of one job from that job's config; UsageError if that will not do."""

    def configured(self, config: Mapping[str, Any]) -> "HandlerSpec":
        """The handler of a job with this config; UsageError says what is wrong with the config."""
        return self.for_job(config) if self.for_job else self


class HandlerLookup(Protocol):
    """Finds handlers by reference."""

    def __call__(self, reference: str) -> HandlerSpec:
        """The handler, or UnknownHandler saying what was tried."""
        ...


ItemHandler = Callable[[Item, Context], Result | Awaitable[Result]]
