"""An engine around one handler, run until its job has nothing left to do."""

from random import Random

import structlog

from headgate.app.settings import Settings
from headgate.app.traffic import Traffic
from headgate.core.retry import RetryPolicy
from headgate.engine.board import FlightBoard
from headgate.engine.clock import SystemClock
from headgate.engine.dispatcher import Scope
from headgate.engine.engine import Budget, Engine, Policies, Surroundings
from headgate.engine.policy import WorkerPolicy
from headgate.ports.handler import HandlerSpec
from headgate.ports.store import Store
from tests.kit import factories
from tests.kit.observer import SpyObserver


async def run_job(store: Store, job_id: int, spec: HandlerSpec) -> None:
    """Run all that is due of a job, in this process."""
    clock, rng = SystemClock(), Random(1)
    traffic = Traffic(Settings(), store, "me", clock, rng)
    worker = await factories.worker(store)
    engine = Engine(
        Scope(worker, (job_id,)),
        Policies(
            worker=WorkerPolicy(concurrency=4, poll_s=0.02), retry=RetryPolicy(backoff_base_s=0.0)
        ),
        Surroundings(
            store,
            lambda _reference: spec,
            SpyObserver(),
            clock,
            structlog.get_logger(),
            FlightBoard.create(),
            rng,
            traffic,
            traffic.gates,
        ),
    )
    await engine.run_slice(Budget(until_idle=True))
    await traffic.close()
