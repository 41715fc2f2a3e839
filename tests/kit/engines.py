"""An engine around one job, run until it has nothing left to do."""

import secrets
from random import Random

import structlog

from headgate.app.http_factory import HttpFactory
from headgate.app.output_folders import OutputFolders
from headgate.app.settings import Settings
from headgate.core.retry import RetryPolicy
from headgate.engine.board import FlightBoard
from headgate.engine.clock import SystemClock
from headgate.engine.dispatcher import Scope
from headgate.engine.engine import Engine, EngineDeps, SliceBudget
from headgate.engine.job_runtime import Places
from headgate.engine.policy import Policies, WorkerPolicy
from headgate.ports.handler import HandlerLookup, HandlerSpec
from headgate.ports.store import Store
from tests.kit import factories
from tests.kit.observer import SpyObserver

IMPATIENT = Settings(
    worker=WorkerPolicy(concurrency=4, poll_s=0.02), retry=RetryPolicy(backoff_base_s=0.0)
)


async def run_job(store: Store, job_id: int, spec: HandlerSpec) -> None:
    """Run all that is due of a job, in this process."""
    await run_slice(store, job_id, lambda _reference: spec, IMPATIENT)


async def run_slice(store: Store, job_id: int, lookup: HandlerLookup, settings: Settings) -> None:
    """The same with these settings, for handlers that are found as a worker finds them."""
    clock, rng = SystemClock(), Random(1)
    traffic, folders = HttpFactory(settings, store, "me", clock, rng), OutputFolders(clock)
    worker = await factories.worker(store, f"worker-{secrets.token_hex(4)}")
    engine = Engine(
        Scope(worker, (job_id,)),
        Policies(worker=settings.worker, retry=settings.retry),
        EngineDeps(
            store,
            lookup,
            SpyObserver(),
            clock,
            structlog.get_logger(),
            FlightBoard.create(),
            rng,
            traffic,
            traffic.gates,
            Places(folders=folders),
            pressed=lambda: False,
        ),
    )
    try:
        await engine.run_slice(SliceBudget(until_idle=True))
    finally:
        await folders.close()
        await traffic.close()
