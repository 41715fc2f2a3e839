"""Tools for tests of handlers and of code that waits: a handler runner, a fake HTTP, a clock."""

import asyncio
import heapq
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypedDict, Unpack, overload

import structlog

from headgate.core.fault import AttemptOver
from headgate.core.item import Item
from headgate.core.outcome import Done, GiveUp, NotFound, Outcome, RetryLater, Review, Skipped
from headgate.core.words import agreeing
from headgate.handlers.function import marked
from headgate.ports.handler import Context, Files, Folders, HandlerSpec, JobView
from headgate.testing_http import Asked, FakeHttp, Reply

__all__ = ["Asked", "FakeClock", "FakeHttp", "Reply", "run_handler"]

MICROSECONDS = 1_000_000
_OUTCOMES = (Done, NotFound, Skipped, Review, RetryLater, GiveUp)


class FakeClock:
    """A clock that stands still until it is advanced; sleepers wake in the order of their times."""

    TURNS = 20
    """Turns of the loop after each wake-up, so that a woken task can fall asleep again."""

    def __init__(self, start_us: int = 1_800_000_000 * MICROSECONDS) -> None:
        self._start_us = start_us
        self._elapsed_us = 0
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []
        self._order = itertools.count()
        self._asleep = asyncio.Condition()

    def now(self) -> int:
        """UTC microseconds."""
        return self._start_us + self._elapsed_us

    def monotonic(self) -> float:
        """Seconds since the clock was made."""
        return self._elapsed_us / MICROSECONDS

    @property
    def sleepers(self) -> int:
        """Number of tasks that are asleep."""
        return sum(not future.done() for _, _, future in self._sleepers)

    async def sleep(self, seconds: float) -> None:
        """Wait until the test advances the clock that far; zero only lets other tasks run."""
        if seconds <= 0:
            await _turn()
            return
        due = self._elapsed_us + round(seconds * MICROSECONDS)
        future = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (due, next(self._order), future))
        async with self._asleep:
            self._asleep.notify_all()
        await future

    def later(self, seconds: float, call: Callable[[], object]) -> Callable[[], object]:
        """Call `call` when the clock has been advanced that far; return a function that cancels."""
        due = self._elapsed_us + max(round(seconds * MICROSECONDS), 1)
        future = asyncio.get_running_loop().create_future()
        future.add_done_callback(lambda done: None if done.cancelled() else call())
        heapq.heappush(self._sleepers, (due, next(self._order), future))
        return future.cancel

    async def advance(self, seconds: float) -> None:
        """Let time pass; each sleeper sees its own time when it wakes."""
        end = self._elapsed_us + round(seconds * MICROSECONDS)
        await _turns(self.TURNS)
        while self._sleepers and self._sleepers[0][0] <= end:
            due, _, future = heapq.heappop(self._sleepers)
            self._elapsed_us = max(self._elapsed_us, due)
            if not future.done():  # it may have been cancelled in its sleep
                future.set_result(None)
                await _turns(self.TURNS)
        self._elapsed_us = max(self._elapsed_us, end)

    async def until_asleep(self, count: int = 1) -> None:
        """Wait, in real time, until `count` tasks are asleep."""
        async with self._asleep:
            await self._asleep.wait_for(lambda: self.sleepers >= count)


class _Turn:
    def __await__(self) -> Generator[None, None, None]:
        yield


async def _turn() -> None:
    await _Turn()


async def _turns(count: int) -> None:
    for _ in range(count):
        await _turn()


class RunOptions(TypedDict, total=False):
    """Options of `run_handler`."""

    config: Mapping[str, Any] | None
    attempt: int
    strategy: str | None
    http: Any
    files: Files | None
    folders: Folders | None
    pages: Mapping[str, Sequence[Mapping[str, Any]]] | None


@overload
def run_handler(
    handler: Callable[..., Any] | HandlerSpec,
    input: Mapping[str, Any],
    **options: Unpack[RunOptions],
) -> Outcome: ...


@overload
def run_handler(
    handler: Callable[..., Any] | HandlerSpec,
    input: Sequence[Mapping[str, Any]],
    **options: Unpack[RunOptions],
) -> list[Outcome]: ...


def run_handler(
    handler: Callable[..., Any] | HandlerSpec,
    input: Mapping[str, Any] | Sequence[Mapping[str, Any]],  # noqa: A002 (the handlers' word)
    **options: Unpack[RunOptions],
) -> Outcome | list[Outcome]:
    """Run a handler on one input, as a worker would, and return its outcome.

        assert run_handler(price, {"sku": "A1"}) == Done({"price": 12.5})

    A handler of packs gets a pack of one; with a list of inputs it gets all of them as one pack,
    and the outcomes are returned as a list. An exception of the handler is raised as it is; only a
    reply that means an outcome, such as a 404 left to `raise_for_status`, is returned as that one.
    `http` becomes `ctx.http`: a `FakeHttp`, or any object with the methods that the handler uses.
    `files` gives `ctx.file` the path behind a name, `folders` gives `ctx.folder` the folder at a
    path, `pages` gives `ctx.pages` the results of pages by checkpoint. A handler from
    `headgate.handlers.registry.resolve` can be run as well.
    """
    config = options.get("config") or {}
    if isinstance(handler, HandlerSpec):
        handler = handler.configured(config)
    spec = handler if isinstance(handler, HandlerSpec) else marked(handler)
    call = handler.call if isinstance(handler, HandlerSpec) else handler
    context = _context(options, spec.strategies if spec else ())
    packed = spec is not None and spec.pack is not None
    single = isinstance(input, Mapping)
    if not single and not packed:
        raise TypeError("only a handler with `pack` takes a list; give this one a single input")
    inputs: Sequence[Mapping[str, Any]] = [input] if isinstance(input, Mapping) else input
    items = [_item(number, each, spec) for number, each in enumerate(inputs, start=1)]
    outcomes = _outcomes(lambda: call(items if packed else items[0], context), items, packed=packed)
    return outcomes[0] if single else outcomes


def _context(options: RunOptions, strategies: Sequence[str]) -> Context:
    strategy = options.get("strategy")
    return Context(
        job=JobView(id=1, name="test", owner="test", config=options.get("config") or {}),
        attempt=options.get("attempt", 1),
        strategy=strategy if strategy is not None else next(iter(strategies), None),
        log=structlog.get_logger("headgate.testing"),
        _http=options.get("http"),
        _files=options.get("files"),
        _folders=options.get("folders"),
        _pages=partial(_pages, options.get("pages") or {}),
    )


async def _pages(
    pages: Mapping[str, Sequence[Mapping[str, Any]]], checkpoint: str
) -> AsyncIterator[Mapping[str, Any]]:
    for page in pages.get(checkpoint, ()):
        yield page


def _item(number: int, values: Mapping[str, Any], spec: HandlerSpec | None) -> Item:
    normalized = spec.normalize(values) if spec and spec.normalize else None
    return Item(id=number, key=str(number), input=values, normalized=normalized)


def _outcomes(call: Callable[[], Any], items: Sequence[Item], *, packed: bool) -> list[Outcome]:
    try:
        returned = _finished(call())
    except AttemptOver as over:
        if isinstance(over.ending, _OUTCOMES):
            return [over.ending] * len(items)
        raise
    if not packed:
        return [_outcome(returned)]
    if not isinstance(returned, Sequence) or len(returned) != len(items):
        size = "one" if len(items) == 1 else str(len(items))
        noun = agreeing(len(items), "outcome", "outcomes")
        raise TypeError(f"a pack of {size} needs a list of {size} {noun}, not {returned!r}")
    return [_outcome(each) for each in returned]


def _finished(answer: Any) -> Any:
    if not isinstance(answer, Awaitable):
        return answer

    async def wait() -> Any:
        return await answer

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait())
    # Called from within a loop (an async test): the handler gets its own loop.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, wait()).result()


def _outcome(answer: Any) -> Outcome:
    if isinstance(answer, _OUTCOMES):
        return answer
    if answer is None:
        return Done()
    if isinstance(answer, Mapping):
        return Done(answer)
    raise TypeError(f"a handler returns a mapping, an outcome or nothing, not {answer!r}")
