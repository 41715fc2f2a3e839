"""Asks a source for one page of each stream, with the pace and the login of a real pass."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

from headgate.app.extract.opening import OpenedSource
from headgate.app.http_factory import HttpFactory
from headgate.app.settings import Settings
from headgate.app.telemetry import logger
from headgate.core.gates.config import GateLimits
from headgate.core.gates.keys import keys_of_provider
from headgate.core.job import LOCAL_OWNER
from headgate.core.provider import ProviderPolicy
from headgate.engine.gate_control import read_gates
from headgate.engine.passes import Passes, PassOrder
from headgate.handlers.extract.sample import SourceSample, StreamSample
from headgate.ports.clock import Clock
from headgate.ports.gate import Turn
from headgate.ports.handler import Context, JobView
from headgate.ports.mirrors import PassPlan
from headgate.ports.store import Store

NO_JOB = 0


class SampledPass:
    """What a pass would do, and what the first page of each of its streams shows."""

    def __init__(self, source: OpenedSource, settings: Settings, store: Store) -> None:
        self._source = source
        self._settings = settings
        self._store = store

    async def take(self, order: PassOrder, clock: Clock) -> tuple[PassPlan, list[StreamSample]]:
        """Plan the pass and ask for its first pages; only what was learned of limits is stored."""
        plan = await Passes(self._store, clock).plan(self._source.for_pass, order)
        names = [each.stream for each in plan.checkpoints]
        async with self.context(clock) as ctx:
            return plan, await SourceSample(self._source.bound, ctx).take(names, plan.items)

    @asynccontextmanager
    async def context(self, clock: Clock) -> AsyncIterator[Context]:
        """What a handler is given, without a job."""
        spec = self._source.spec
        rng = Random()  # noqa: S311  jitter
        factory = HttpFactory(self._settings, self._store, f"sample-{os.getpid()}", clock, rng)
        factory.declare(spec.provider or "", spec.limits)
        http = factory(
            Turn(LOCAL_OWNER, NO_JOB),
            spec.provider or "",
            lambda _: None,
            guarded=spec.guarded,
            blocking=False,
        )
        view = JobView(NO_JOB, self._source.mirror, LOCAL_OWNER, self._source.for_pass.config)
        try:
            yield Context(job=view, attempt=1, strategy=None, log=logger(), _http=http)
        finally:
            await factory.close()

    async def requests_per_s(self) -> float | None:
        """The limit of the source, configured or learned; None: it is not known yet."""
        provider, policy = self._source.bound.provider, self._source.bound.policy
        limits = self._settings.gate_limits
        limits = GateLimits(
            {provider: policy or ProviderPolicy(), **limits.providers}, limits.gates
        )
        keys = keys_of_provider(provider, limits.providers[provider])
        views = (await read_gates(self._store.limits, limits, keys)).views
        found = [
            rate
            for view in views
            for rate in (view.configured_per_s, view.learned_per_s)
            if rate is not None
        ]
        return min(found, default=None)
