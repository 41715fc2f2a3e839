"""`GET /metrics`: metrics for Prometheus, read from the store on each request."""

from collections.abc import Iterable

from fastapi import APIRouter, Request, Response
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.identity import is_loopback, require_admin
from headgate.app.api.problems import documented
from headgate.app.api.state import AppState, State
from headgate.core.status import UNFINISHED, ItemStatus
from headgate.engine.gate_control import read_gates
from headgate.ports.reads import JobQuery

router = APIRouter(tags=["health"], route_class=BoundedRoute)

TEXT = "text/plain; version=0.0.4; charset=utf-8"
JOBS = 200


@router.get(
    "/metrics",
    responses={**documented(), 200: {"content": {"text/plain": {}}}},
    response_class=Response,
)
async def metrics(request: Request, app_state: State) -> Response:
    """Return metrics in Prometheus' text format. Callers from other machines must be admins."""
    if not is_loopback(request):
        await require_admin(request, app_state)
    registry = CollectorRegistry()
    registry.register(_Found(await _collected(app_state)))
    return Response(generate_latest(registry), media_type=TEXT)


class _Found(Collector):
    """Holds metrics that were collected before: the registry cannot await."""

    def __init__(self, found: list[Metric]) -> None:
        self._found = found

    def collect(self) -> Iterable[Metric]:
        return self._found


async def _collected(app_state: AppState) -> list[Metric]:
    return [*await _of_jobs(app_state), *await _of_gates(app_state), *_of_health(app_state)]


async def _of_jobs(app_state: AppState) -> list[Metric]:
    items = GaugeMetricFamily(
        "headgate_items", "Items of unfinished jobs by status.", labels=["status"]
    )
    depth = GaugeMetricFamily("headgate_queue_depth", "Items that wait (queue_depth).")
    speed = GaugeMetricFamily(
        "headgate_items_per_second", "Items finished per second now (items_sec).", labels=["job"]
    )
    limited = GaugeMetricFamily(
        "headgate_job_limited_by",
        "1 for the cause that limits the rate.",
        labels=["job", "cause"],
    )
    ingest = GaugeMetricFamily(
        "headgate_ingest_ms", "Time spent reading the source (ingest_ms).", labels=["job"]
    )
    latency = GaugeMetricFamily(
        "headgate_db_latency_ewma_ms", "Mean commit time of ingest batches.", labels=["job"]
    )
    errors = GaugeMetricFamily(
        "headgate_error_rate", "Share of finished items in ERROR.", labels=["job"]
    )
    missing = GaugeMetricFamily(
        "headgate_not_found_rate", "Share of finished items in NOT_FOUND.", labels=["job"]
    )
    total = dict.fromkeys(ItemStatus, 0)
    jobs = await app_state.store.reads.jobs(JobQuery(states=UNFINISHED, limit=JOBS, configs=False))
    for job in jobs:
        counts = await app_state.store.reads.counts(job.id)
        name = [str(job.id)]
        for status in ItemStatus:
            total[status] += counts.of(status)
        speed.add_metric(name, app_state.monitor.rate(job.id) or 0.0)
        wait = (await app_state.limit_cache.limit_of(job)).wait
        if wait is not None:
            limited.add_metric([*name, wait.kind], 1.0)
        finished = max(counts.finished, 1)
        errors.add_metric(name, counts.error / finished)
        missing.add_metric(name, counts.not_found / finished)
        if job.ingest:
            ingest.add_metric(name, float(job.ingest.get("ingestMs", 0.0)))
            latency.add_metric(name, float(job.ingest.get("latencyEwmaMs", 0.0)))
    for status, count in total.items():
        items.add_metric([status], count)
    depth.add_metric([], total[ItemStatus.PENDING])
    return [items, depth, speed, limited, ingest, latency, errors, missing]


async def _of_gates(app_state: AppState) -> list[Metric]:
    throttled = GaugeMetricFamily(
        "headgate_api_throttle_rate", "Share of refused requests.", labels=["gate"]
    )
    rate = GaugeMetricFamily(
        "headgate_gate_rate", "Requests allowed per second now.", labels=["gate"]
    )
    keys = [entry.key for entry in await app_state.store.limits.entries("provider:")]
    for view in (
        await read_gates(app_state.store.limits, app_state.settings.gate_limits, keys)
    ).views:
        throttled.add_metric([view.name], view.refused_share)
        if view.now_per_s is not None:
            rate.add_metric([view.name], view.now_per_s)
    return [throttled, rate]


def _of_health(app_state: AppState) -> list[Metric]:
    workers = GaugeMetricFamily("headgate_workers", "Workers that are alive.")
    workers.add_metric([], app_state.monitor.health.workers)
    slow = GaugeMetricFamily(
        "headgate_slow_jobs", "Jobs with work that run below 5 % of their possible rate."
    )
    slow.add_metric([], len(app_state.monitor.health.slow))
    return [workers, slow]
