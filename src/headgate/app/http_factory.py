"""A worker's gates and HTTP stack, created on first use."""

import asyncio
import importlib
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, cast

from headgate.app.loops import Loops
from headgate.app.settings import Settings
from headgate.app.telemetry import logger
from headgate.app.wiring import sqlite_path, store_kind
from headgate.core.call import Call
from headgate.core.errors import HeadgateError
from headgate.core.gates.configured_limiter import ConfiguredLimiter
from headgate.core.gates.shared_limiter import SharedLimiter
from headgate.core.provider import ProviderPolicy
from headgate.core.status import JobMove
from headgate.engine.gates.gate import LocalGate
from headgate.engine.gates.path import GatePaths
from headgate.engine.gates.sync import LedgerSync, LedgerTime
from headgate.engine.gates.tree import GateClosed, GateTree
from headgate.ports.clock import Clock
from headgate.ports.gate import Turn
from headgate.ports.http import Http
from headgate.ports.store import Store
from headgate.transfer.blobs import LocalBlobs

if TYPE_CHECKING:
    from headgate.net.cache import HttpCache
    from headgate.net.stack import HttpStack


def cache_folder(settings: Settings) -> Path | None:
    """The HTTP cache: from the settings, else beside the SQLite file or in the current folder."""
    if not settings.net.cache:
        return None
    if settings.net.cache_folder:
        return Path(settings.net.cache_folder)
    beside = Path()
    if store_kind(settings.database_url) == "sqlite":
        beside = Path(sqlite_path(settings.database_url)).parent
    return beside / ".headgate-cache"


class HttpFactory:
    """Opens an HTTP client for each attempt that needs one.

    Most of the cost comes with the first client, or with the first handler that declares a
    provider: a job without requests starts without it.
    """

    def __init__(
        self, settings: Settings, store: Store, me: str, clock: Clock, rng: Random
    ) -> None:
        self._settings = settings
        self._jobs = store.jobs
        self._clock = clock
        self._rng = rng
        self._providers: dict[str, ProviderPolicy] = dict(settings.providers)
        self._stack: HttpStack | None = None
        self._cache: HttpCache | None = None
        self._blobs: LocalBlobs | None = None
        self._opening = threading.Lock()
        self.untimed: Callable[[], AbstractContextManager[None]] = nullcontext
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()
        time = LedgerTime(clock)
        ceiling = partial(SharedLimiter, me, kind=ConfiguredLimiter)
        paths = GatePaths(
            self._providers, settings.gates, partial(SharedLimiter, me), ceiling, self._add_gate
        )
        self.gates = GateTree(paths.to, time, clock)
        self._sync = LedgerSync(store.limits, time, clock, self.gates.wake)
        self._loops = Loops(clock)
        self.gates.on_impatience = self._sync.nudge
        self.gates.on_spent = self._pause
        self._pausing: dict[int, asyncio.Task[None]] = {}
        self.gates.hosts.on_event = self._add_event
        self._writing: asyncio.Task[None] | None = None
        self._host_events: list[tuple[int, str]] = []

    def declare(self, provider: str, policy: ProviderPolicy | None) -> None:
        """Set a handler's provider policy, unless the settings have one, and load the HTTP stack.

        Loading the stack takes a good part of a second. Done now, no leased item waits for it.
        """
        if policy is not None:
            self._providers.setdefault(provider, policy)
        self._ready()

    def adopt(self, providers: Mapping[str, ProviderPolicy]) -> None:
        self._providers.update(providers)

    def __call__(
        self,
        turn: Turn,
        provider: str,
        record: Callable[[Call], None],
        *,
        guarded: bool,
        blocking: bool,
    ) -> Http:
        """The client of one attempt."""
        stack = self._stack
        if stack is None:
            turn.waits.begin()  # loading is not the handler's work, nor is waiting for it
            try:
                stack = self._ready()
            finally:
                turn.waits.end()
        guarded = guarded or self._settings.net.guard_all
        client = stack.client(turn, provider, record, guarded=guarded)
        if not blocking:
            return client
        blocking_client = importlib.import_module("headgate.net.blocking").BlockingClient
        return cast("Http", blocking_client(client, self._loop))

    async def close(self) -> None:
        """Close the connections and the cache, and publish the learned limits."""
        await asyncio.gather(*self._pausing.values())
        if self._writing is not None:
            await self._writing
        if self._loops.states():
            await self._loops.stop()
            await self._sync.close()
        if self._stack is not None:
            await self._stack.close()
        if self._cache is not None:
            await self._cache.__aexit__(None, None, None)
        if self._blobs is not None:
            await self._blobs.close()

    def _pause(self, job_id: int, closed: GateClosed) -> None:
        """Pause a job that needs a spent hard cap, until the cap's window ends."""
        if job_id not in self._pausing:
            task = asyncio.ensure_future(self._pause_job(job_id, closed))
            task.add_done_callback(lambda _: self._pausing.pop(job_id))
            self._pausing[job_id] = task

    async def _pause_job(self, job_id: int, closed: GateClosed) -> None:
        with suppress(HeadgateError):  # already paused, or no store: the items wait anyway
            await self._jobs.move_job(job_id, JobMove.PAUSE, closed.reason, closed.wait_s)

    def _add_event(self, job_id: int, message: str) -> None:
        """Record an event of a job when one of its hosts stops answering or answers again."""
        if job_id > 0:  # 0: a command, not a job
            self._host_events.append((job_id, message))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.ensure_future(self._write_events())

    async def _write_events(self) -> None:
        while self._host_events:  # one after the other, to keep their order
            job_id, message = self._host_events.pop(0)
            with suppress(HeadgateError):
                await self._jobs.record_event("host", message, job_id)

    def _add_gate(self, gate: LocalGate) -> None:
        self._sync.add(gate)
        if not self._loops.states():
            # Without it, no gate would get a new share, and all rows would wait silently.
            self._loops.start("shared limits", lambda _sign: self._sync.run())

    def _ready(self) -> "HttpStack":
        is_blocking = threading.get_ident() == self._loop_thread
        with self._opening:  # synchronous handlers call from other threads
            if self._stack is None:
                with self.untimed() if is_blocking else nullcontext():
                    self._stack = self._open()
            return self._stack

    def _open(self) -> "HttpStack":
        settings = self._settings
        net = {
            name: importlib.import_module(f"headgate.net.{name}")
            for name in ("cache", "stack", "wire")
        }
        wire = net["wire"].AiohttpWire(allow_private=settings.net.allow_private)
        folder = cache_folder(settings)
        if folder is not None:
            self._blobs = LocalBlobs(folder / "blobs", self._clock, durable=False)
            self._cache = net["cache"].HttpCache(
                folder,
                self._blobs,
                self._clock,
                warn=logger().warning,
                max_bytes=settings.net.cache_bytes,
            )
        parts = net["stack"].HttpParts(wire, self.gates, self._clock, self._rng, self._cache)
        return cast(
            "HttpStack",
            net["stack"].HttpStack(
                parts, self._providers, settings.net, settings.breaker, self.gates.hosts
            ),
        )
