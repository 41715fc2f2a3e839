"""Handlers, and the context that an attempt gives them."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
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
    def debug(self, event: str, **facts: object) -> object: ...

    def info(self, event: str, **facts: object) -> object: ...

    def warning(self, event: str, **facts: object) -> object: ...

    def error(self, event: str, **facts: object) -> object: ...


Files = Callable[[str], Path]
"""Finds stored bytes by name: ValueError for an invalid name, FileNotFoundError if they are
gone."""
Pages = Callable[[str], AsyncIterator[Mapping[str, Any]]]
"""The results of the pages of a checkpoint that ended DONE, in order."""
JobFiles = Callable[["JobView", str], Path]
Folders = Callable[[str], Awaitable[Artifacts]]
"""Opens the output folder at a path, once for each process; FolderTrouble if that fails."""


class NoFile(AttemptOver):
    """The stored bytes that an item names do not exist; no retry will change that."""

    def __init__(self, ref: str, problem: str) -> None:
        super().__init__(Fault(FaultClass.PERMANENT, f"stored file {ref[:80]!r}: {problem}"))


class JobView(msgspec.Struct, frozen=True):
    """The part of a job that its handler sees."""

    id: int
    name: str
    owner: str
    config: Mapping[str, Any]


class Context(msgspec.Struct):
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
    _pages: Pages | None = None

    @property
    def http(self) -> Http:
        """The polite client: cached, paced, capped, retried, recorded.

        In a plain `def` handler its methods return their answer at once instead of being awaited.
        """
        if self._http is None:
            if self._open is None:
                raise UsageError(
                    "this context has no HTTP client; pass one to `run_handler(http=…)`"
                )
            self._http = self._open()
        return self._http

    def spend(self, **cost: float) -> None:
        """The actual cost of the last request, where an estimate was reserved: `tokens=812`."""
        self.http.spend(cost)

    def file(self, ref: str) -> Path:
        """The path of the stored bytes that a row names by `ref`, such as an image; read only.

        If the bytes do not exist, the exception, unless caught, ends the item as a permanent error.
        """
        if self._files is None:
            raise UsageError(
                "this context has no stored files; pass them to `run_handler(files=…)`"
            )
        try:
            return self._files(ref)
        except ValueError as error:
            raise NoFile(
                ref, "this is not a valid name; give the value of the column `ref`"
            ) from error
        except FileNotFoundError as error:
            raise NoFile(ref, "it is gone; upload it again") from error

    def folder(self, path: str) -> Awaitable[Artifacts]:
        """The folder at this path, for files that appear in it complete; else FolderTrouble.

        All attempts of a process share one folder object, which is closed with the process.
        """
        if self._folders is None:
            raise UsageError("this context has no folders; pass them to `run_handler(folders=…)`")
        return self._folders(path)

    def pages(self, checkpoint: str) -> AsyncIterator[Mapping[str, Any]]:
        """The results of the finished pages of a checkpoint of this job, in order.

        Only for an `async def` handler: `async for page in ctx.pages("users")`.
        """
        if self._pages is None:
            raise UsageError("this context has no pages; pass them to `run_handler(pages=…)`")
        return self._pages(checkpoint)


class HandlerSpec(msgspec.Struct, frozen=True):
    name: str
    reference: str
    """The reference by which another process finds it: a name, `module:function`,
    `/path/file.py:function`, a TOML file."""
    call: Callable[..., Result | Sequence[Result] | Awaitable[Result | Sequence[Result]]]
    is_async: bool
    provider: str | None = None
    gate_of: Callable[[Mapping[str, Any]], str] | None = None
    key_of: Callable[[Mapping[str, Any]], str] | None = None
    """The key of a row, unless the job has key columns. Rows with the same key are processed once:
    the others are SKIPPED when they are read."""
    strategies: tuple[str, ...] = ()
    normalize: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    pack: int | None = None
    timeout_s: float | None = None
    memory_mb: int | None = None
    limits: ProviderPolicy | None = None
    """Limits that the handler itself declares for its provider."""
    providers: Mapping[str, ProviderPolicy] = {}
    """Other services that it calls, with the settings that apply to them."""
    guarded: bool = False
    """True if it calls addresses that come from data: private addresses are refused."""
    described: bool = False
    """The config of its job describes it; other handlers were installed by the operator."""
    about: str = ""
    """What it does, in one line."""
    version: str = ""
    """Changes when the same input may give another result."""
    needs: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    """The addresses that it calls for every row, such as `https://api.example.org`."""
    paths: Mapping[str, str] = {}
    """For a described handler: the path in a reply of each result column."""
    config_schema: Mapping[str, Any] | None = None
    """JSON Schema of the config of its jobs."""
    for_job: "Callable[[Mapping[str, Any]], HandlerSpec] | None" = None
    """Makes the handler of one job from the job's config; UsageError if the config is invalid."""

    def configured(self, config: Mapping[str, Any]) -> "HandlerSpec":
        """The handler of a job with this config; UsageError says what is wrong with the config."""
        return self.for_job(config) if self.for_job else self


class HandlerLookup(Protocol):
    def __call__(self, reference: str) -> HandlerSpec:
        """The handler, or UnknownHandler that says what was tried."""
        ...


ItemHandler = Callable[[Item, Context], Result | Awaitable[Result]]
