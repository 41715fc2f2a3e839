"""Lookups against a real server: what was asked of it, and what became of the row."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import structlog

from headgate.core.fault import AttemptOver, Fault
from headgate.core.item import Item
from headgate.core.outcome import Outcome
from headgate.handlers.lookup import of_config
from headgate.ports.handler import Context, HandlerSpec, JobView
from headgate.ports.http import Http
from tests.kit.answers import Request
from tests.kit.http import bench
from tests.kit.provider import Provider, wait_until

Tree = Mapping[str, Any]


def described(provider: Provider, path: str = "/", **words: Any) -> dict[str, Any]:
    """A description whose request goes to a path of the provider."""
    request = {"url": provider.url(path), **words.pop("request", {})}
    return {"request": request, "columns": {}, **words}


def sent(provider: Provider, count: int = 1) -> list[Request]:
    """What arrived there, as soon as this number of requests has."""
    wait_until(lambda: len(provider.seen) >= count)
    return [seen.request for seen in provider.seen]


class Asking:
    """Runs a described lookup on one row, as a worker would."""

    def __init__(self, http: Http, files: Callable[[str], Path] | None) -> None:
        self._http = http
        self._files = files

    async def __call__(
        self, description: Tree | HandlerSpec, row: Tree, strategy: str | None = None
    ) -> Outcome | Fault:
        """What became of the row."""
        if isinstance(description, HandlerSpec):
            spec = description.configured({})
        else:
            spec = of_config({"lookup": description})
        strategy = strategy or next(iter(spec.strategies), None)
        log = structlog.get_logger()
        job = JobView(1, "test", "test", {})
        context = Context(job, 1, strategy, log, _http=self._http, _files=self._files)
        try:
            normalized = spec.normalize(row) if spec.normalize else None
            outcome: Outcome = await spec.call(Item(1, "1", row, normalized), context)  # type: ignore[misc]
        except AttemptOver as over:
            return over.ending
        return outcome


@asynccontextmanager
async def asking(files: Callable[[str], Path] | None = None) -> AsyncIterator[Asking]:
    """A client with open gates."""
    async with bench() as cli:
        yield Asking(cli.client(), files)
