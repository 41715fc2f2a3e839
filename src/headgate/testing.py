"""For tests of handlers, and of anything that waits: an owned clock and a handler runner."""

import asyncio
import heapq
import itertools
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import structlog

from headgate.core.item import Item
from headgate.core.outcome import Done, GiveUp, NotFound, Outcome, RetryLater, Review, Skipped
from headgate.handlers.function import marked
from headgate.ports.handler import Context, Files, Folders, HandlerSpec, JobView

MICROSECONDS = 1_000_000
_OUTCOMES = (Done, NotFound, Skipped, Review, RetryLater, GiveUp)


class FakeClock:
    """A clock that stands still until it is advanced; sleepers wake in the order of their times."""

    TURNS = 20
    """How often the loop goes round after each wake-up, so that what woke can fall asleep again."""

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
        """How many tasks are asleep."""
        return sum(not future.done() for _, _, future in self._sleepers)

    async def sleep(self, seconds: float) -> None:
        """Wait until somebody advances the clock that far; zero only lets others run."""
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
        """Have `call` called when the clock has been advanced that far."""
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
        """Wait, in real time, until so many tasks are asleep."""
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


def run_handler(  # noqa: PLR0913 (each is an option that users write by name)
    handler: Callable[..., Any] | HandlerSpec,
    input: Mapping[str, Any],  # noqa: A002 (the word that handlers know it by)
    *,
    config: Mapping[str, Any] | None = None,
    attempt: int = 1,
    strategy: str | None = None,
    http: Any = None,
    files: Files | None = None,
    folders: Folders | None = None,
) -> Outcome:
    """Run a handler on one input, as a worker would, and return its outcome.

        assert run_handler(price, {"sku": "A1"}) == Done({"price": 12.5})

    What the handler raises comes out as it is. A handler of packs gets a pack of one. `http` is
    what it finds as `ctx.http`: anything with the methods that it uses; `files` gives `ctx.file`
    the path behind a name, `folders` gives `ctx.folder` what is at a path. A handler from
    `headgate.handlers.registry.resolve` can be run as well.
    """
    if isinstance(handler, HandlerSpec):
        handler = handler.configured(config or {})
    spec = handler if isinstance(handler, HandlerSpec) else marked(handler)
    call = handler.call if isinstance(handler, HandlerSpec) else handler
    strategies = spec.strategies if spec else ()
    normalized = spec.normalize(input) if spec and spec.normalize else None
    item = Item(id=1, key="1", input=input, normalized=normalized)
    context = Context(
        job=JobView(id=1, name="test", owner="test", config=config or {}),
        attempt=attempt,
        strategy=strategy if strategy is not None else next(iter(strategies), None),
        log=structlog.get_logger("headgate.testing"),
        _http=http,
        _files=files,
        _folders=folders,
    )
    if spec is None or spec.pack is None:
        return _outcome(_finished(call(item, context)))
    results = _finished(call([item], context))
    if not isinstance(results, Sequence) or len(results) != 1:
        raise TypeError(f"a pack of one needs a list of one outcome, not {results!r}")
    return _outcome(results[0])


def _finished(answer: Any) -> Any:
    if not isinstance(answer, Awaitable):
        return answer

    async def wait() -> Any:
        return await answer

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait())
    # Called from inside a loop (an async test): the handler gets one of its own.
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
