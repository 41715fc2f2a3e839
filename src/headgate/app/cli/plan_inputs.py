"""The inputs of a forecast: options first, then measured or learned values, then defaults."""

import asyncio
import math
from collections.abc import Mapping
from pathlib import Path

import msgspec

from headgate.app.cli.runtime import CliContext
from headgate.app.settings import Settings
from headgate.app.wiring import missing_file
from headgate.core.errors import UsageError
from headgate.core.gates.budget import Cap, parse_caps
from headgate.core.gates.budget_share import REQUESTS
from headgate.core.gates.config import GatePolicy
from headgate.core.gates.keys import find_gates, provider_in
from headgate.core.gates.view import ceilings_of
from headgate.core.provider import PRESETS, ProviderPolicy
from headgate.core.rate import Ceilings, Limit
from headgate.core.status import JobState
from headgate.core.words import counted
from headgate.engine.plan.workload import (
    Assumed,
    Learned,
    Measured,
    Workload,
    measure_calls,
    provider_from_pace,
    read_learned,
)
from headgate.handlers.registry import resolve
from headgate.ports.handler import HandlerSpec
from headgate.ports.store import Store
from headgate.transfer.sources import open_source

LATENCY_S = 0.2
"""Assumed latency of a request in seconds, if none was measured."""
ENOUGH = 20
"""Number of replies after which the mean latency of a gate is used."""
ROWS, BYTES = 8_192, 4_000_000
"""Rows and bytes that one read takes at most."""


class Given(msgspec.Struct, frozen=True):
    """The options of the command line; None if not given."""

    provider: str | None = None
    limits: tuple[Limit, ...] | None = None
    credentials: int | None = None
    latency_s: float | None = None
    calls_per_item: float | None = None
    cache_hits: float | None = None
    cost: Mapping[str, float] = {}


class PlanSubject(msgspec.Struct, frozen=True):
    name: str
    rows: int
    spec: HandlerSpec | None = None
    measured: Measured | None = None
    notes: tuple[str, ...] = ()


class PlanInputs(msgspec.Struct, frozen=True):
    subject: PlanSubject
    provider: str
    origin: str
    """The source of the limit: `assumed`, `learned`, `configured` or `unknown`."""
    workload: Workload
    calls_per_item: float
    cache_hits: float
    now_s: float
    measured_latency: bool
    """False if the latency is an option or an assumption."""
    pooled: bool
    """True unless the provider is known to have no credentials."""
    published: bool
    """True if the configured limits are the ones that the provider publishes."""
    notes: tuple[str, ...] = ()


async def plan_inputs_of(
    cli: CliContext, settings: Settings, what: str, given: Given
) -> PlanInputs:
    if not _is_job(what):
        rows = await asyncio.to_thread(_count_rows, Path(what))
        subject = PlanSubject(what, rows)
        if missing_file(settings):
            return _inputs(settings, given, subject, Learned(cli.clock.now() / 1e6, ()), ())
        async with cli.store(settings) as store:
            return await _with_store(store, settings, given, subject)
    async with cli.store(settings) as store:
        subject = await _job(store, settings, int(what))
        return await _with_store(store, settings, given, subject)


def _is_job(what: str) -> bool:
    return what.isdecimal() and not Path(what).exists()


def _count_rows(path: Path) -> int:
    reader = open_source(path).open()
    try:
        rows = 0
        while taken := len(reader.take(ROWS, BYTES).lines):
            rows += taken
        return rows
    finally:
        reader.close()


async def _job(store: Store, settings: Settings, job_id: int) -> PlanSubject:
    job = await store.reads.job(job_id)
    counts = await store.reads.counts(job_id)
    notes: list[str] = []
    if job.state is JobState.INGESTING:
        notes.append("its source was not read to the end: only the stored rows are counted")
    try:
        spec = resolve(job.handler, settings.handlers).configured(job.config)
    except UsageError as error:
        spec = None
        notes.append(f"its handler cannot be loaded, so its provider is unknown: {error}")
    if spec is not None and spec.gate_of is not None:
        notes.append("its items go to several hosts; the forecast assumes a single host")
    measured = await measure_calls(store.reads, job_id)
    if measured is None and counts.done:
        notes.append(
            f"none of its {counted(counts.done, 'finished row')} sent a request through `ctx.http`;"
            " the forecast assumes that the others do"
        )
    return PlanSubject(f"job {job_id}, {job.name}", counts.open, spec, measured, tuple(notes))


async def _with_store(
    store: Store, settings: Settings, given: Given, subject: PlanSubject
) -> PlanInputs:
    known = [entry.key for entry in await store.limits.entries()]
    keys = _keys(settings, given, subject, known)
    learned = await read_learned(store.limits, keys)
    return _inputs(settings, given, subject, learned, keys)


def _keys(
    settings: Settings, given: Given, subject: PlanSubject, known: list[str]
) -> tuple[str, ...]:
    """The keys of the provider's gates."""
    name = _provider(given, subject)
    if not name:
        return ()
    spec, providers = subject.spec, _providers(settings, subject)
    if spec is not None and name == spec.provider and name not in providers:
        return (f"provider:{name}",)
    return tuple(find_gates(name, known, providers))


def _provider(given: Given, subject: PlanSubject) -> str:
    declared = subject.spec.provider if subject.spec else None
    asked = subject.measured.asked if subject.measured else ""
    return given.provider or declared or asked


def _providers(settings: Settings, subject: PlanSubject) -> dict[str, ProviderPolicy]:
    """The providers of the settings, and the handler's own if the settings do not have it."""
    providers = dict(settings.providers)
    spec = subject.spec
    if spec is not None and spec.provider and spec.limits:
        providers.setdefault(spec.provider, spec.limits)
    return providers


def _inputs(
    settings: Settings, given: Given, subject: PlanSubject, learned: Learned, keys: tuple[str, ...]
) -> PlanInputs:
    name, measured = _provider(given, subject), subject.measured
    providers = _providers(settings, subject)
    if name and not keys:
        keys = tuple(find_gates(name, (), providers))
    policy = providers.get(provider_in(keys[0]) if keys else name) or ProviderPolicy()
    credentials = given.credentials or max(1, len(policy.credentials))
    ceilings, notes = _ceilings(settings.gates, policy, credentials, learned)
    assumed, origin = _assumed(given, learned, ceilings)
    calls = given.calls_per_item or (measured.calls_per_item if measured else _usual(subject))
    hits = given.cache_hits
    if hits is None:
        hits = measured.cache_hits if measured else 0.0
    worker = settings.worker
    caps, cost = _costs(policy, given, learned)
    notes += [
        f"the use of the budget {each} per request is unknown, so it is ignored: --cost {each}=N"
        for each in sorted({cap.name for cap in caps} - set(cost))
    ]
    latency_s, measured_latency = _latency(given, subject, learned)
    workload = Workload(
        requests=math.ceil(subject.rows * calls * (1 - hits)),
        lanes=max(worker.concurrency, worker.processes),
        processes=worker.processes,
        credentials=credentials,
        latency_s=latency_s,
        ceilings=ceilings,
        assumed=assumed,
        remembered=tuple(state.pace for state in learned.states),
        caps=tuple(cap for cap in caps if cap.name in cost),
        spent=tuple(state.budget for state in learned.states),
        cost=cost,
    )
    return PlanInputs(
        subject=subject,
        provider=name,
        origin=origin,
        workload=workload,
        calls_per_item=calls,
        cache_hits=hits,
        now_s=learned.now_s,
        measured_latency=measured_latency,
        pooled=not settings.gates.rate and _is_pooled(policy, given),
        published=_is_published(name, policy),
        notes=(*subject.notes, *notes),
    )


def _is_published(name: str, policy: ProviderPolicy) -> bool:
    preset = PRESETS.get(name)
    ours = (policy.rate, policy.concurrency)
    return preset is not None and ours == (preset.rate, preset.concurrency)


def _is_pooled(policy: ProviderPolicy, given: Given) -> bool:
    """Whether several credentials are possible; a provider declared without any has none."""
    return bool(policy.credentials or given.credentials) or policy == ProviderPolicy()


def _costs(
    policy: ProviderPolicy, given: Given, learned: Learned
) -> tuple[tuple[Cap, ...], dict[str, float]]:
    """The budgets, and the known amounts that one request uses of them."""
    caps = parse_caps(policy.budget, policy.hard_caps)
    if unknown := sorted(set(given.cost) - {cap.name for cap in caps}):
        raise UsageError(
            f"--cost {unknown[0]}: the provider has no such budget; declare it as"
            f' budget = {{{unknown[0]} = "90000/min"}}'
        )
    typical: dict[str, float] = {}
    for state in learned.states:
        typical |= state.budget.typical if state.budget else {}
    return caps, {REQUESTS: 1.0, **typical, **given.cost}


def _usual(subject: PlanSubject) -> float:
    return 1 / (subject.spec.pack or 1) if subject.spec else 1.0


def _ceilings(
    gates: GatePolicy, policy: ProviderPolicy, credentials: int, learned: Learned
) -> tuple[Ceilings, list[str]]:
    """The limits of each credential: as configured, or as overridden by an operator.

    Limits on all requests together are divided equally between the credentials. All requests
    are assumed to go to one host.
    """
    whole, notes = ceilings_of(policy), []
    per_host = policy.concurrency_per_host or gates.concurrency_per_host
    shared = [
        width for width in (per_host, gates.concurrency_per_domain, gates.concurrency) if width
    ]
    widths = [max(1, width // credentials) for width in shared]
    ceilings = msgspec.structs.replace(
        whole,
        limits=(*whole.limits, *(Limit(x.count / credentials, x.seconds) for x in gates.limits)),
        concurrency=min(
            [*widths, *([whole.concurrency] if whole.concurrency else [])], default=None
        ),
    )
    for state in learned.states:
        override = state.override
        if override is None or not override.holds(learned.now_s):
            continue
        if override.paused:
            notes.append(
                "an operator has paused the provider; the forecast assumes that it is not paused"
            )
        elif override.rate is not None:
            ceilings = msgspec.structs.replace(ceilings, limits=(Limit(override.rate, 1.0),))
            notes.append("an operator has set the provider's rate")
    return ceilings, list(dict.fromkeys(notes))


def _assumed(given: Given, learned: Learned, ceilings: Ceilings) -> tuple[Assumed, str]:
    busiest = max((state.pace for state in learned.states), key=lambda p: p.replies, default=None)
    known = provider_from_pace(busiest) if busiest else None
    if given.limits is not None:
        assumed = msgspec.structs.replace(known or Assumed(), limits=given.limits, cap=None)
        return assumed, "assumed"
    if known is not None:
        return known, "learned"
    return Assumed(), "configured" if ceilings.limits else "unknown"


def _latency(given: Given, subject: PlanSubject, learned: Learned) -> tuple[float, bool]:
    """The latency in seconds, and whether it was measured."""
    if given.latency_s is not None:
        return given.latency_s, False
    if subject.measured is not None and subject.measured.latency_s:
        return subject.measured.latency_s, True
    known = [state.pace.latency for state in learned.states if state.pace.replies >= ENOUGH]
    return (known[0], True) if known else (LATENCY_S, False)
