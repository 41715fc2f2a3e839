"""`headgate plan`: forecast how long a job takes, before it sends a request."""

import re
from typing import Annotated

import msgspec
import typer

from headgate.app.cli.options import Json
from headgate.app.cli.plan_inputs import Given, PlanInputs, plan_inputs_of
from headgate.app.cli.render.plan import plan_json, show_plan
from headgate.app.cli.runtime import CliContext, command
from headgate.app.cli.worker import Concurrency, Processes, worker_flags
from headgate.core.errors import UsageError
from headgate.core.rate import Limit, parse_limits
from headgate.engine.plan.advice import Advice, advise
from headgate.engine.plan.forecast import Forecast, forecast_runs
from headgate.engine.plan.workload import Assumed

ASSUME = "What to assume"
GUESSES = ("1/s", "10/s", "100/s", "")
"""Limits to compare if the real one is unknown; the empty one means no limit."""
_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s)")

JobOrFile = Annotated[
    str,
    typer.Argument(metavar="JOB|FILE", help="A job's number, or a file of rows."),
]
Provider = Annotated[
    str | None,
    typer.Option(
        "--provider",
        metavar="NAME",
        help="The provider of the requests; default: the job's provider.",
    ),
]
RealLimit = Annotated[
    str | None,
    typer.Option(
        "--limit",
        metavar="LIMITS",
        help="The provider's real limit: '10/s, 100/min'. Default: as learned or configured.",
        rich_help_panel=ASSUME,
    ),
]
Credentials = Annotated[
    int | None,
    typer.Option(
        "--credentials",
        metavar="N",
        min=1,
        max=1_000,
        help="Number of credentials, each with its own limit. Default: as configured.",
        rich_help_panel=ASSUME,
    ),
]
Latency = Annotated[
    str | None,
    typer.Option(
        "--latency",
        metavar="TIME",
        help="Time until an answer: 200ms, 1.5s. Default: as measured, else 200ms.",
        rich_help_panel=ASSUME,
    ),
]
CallsPerItem = Annotated[
    float | None,
    typer.Option(
        "--calls-per-item",
        metavar="X",
        help="Requests per row. Default: as measured, else 1.",
        rich_help_panel=ASSUME,
    ),
]
CacheHits = Annotated[
    str | None,
    typer.Option(
        "--cache-hits",
        metavar="SHARE",
        help="Share of requests that the cache answers: 30%. Default: as measured, else none.",
        rich_help_panel=ASSUME,
    ),
]
Cost = Annotated[
    list[str] | None,
    typer.Option(
        "--cost",
        metavar="NAME=N",
        help="Budget that one request uses: tokens=1200. May be repeated.",
        rich_help_panel=ASSUME,
    ),
]


async def plan(
    cli: CliContext,
    *,
    what: JobOrFile,
    provider: Provider = None,
    limit: RealLimit = None,
    credentials: Credentials = None,
    latency: Latency = None,
    calls_per_item: CallsPerItem = None,
    cache_hits: CacheHits = None,
    cost: Cost = None,
    concurrency: Concurrency = None,
    processes: Processes = None,
    as_json: Json = False,
) -> None:
    """Forecast how long a job or a file will take, what limits it, and what would help."""
    settings = cli.load(*worker_flags(concurrency, processes, None)).settings
    given = Given(
        provider=provider,
        limits=_limits_in(limit),
        credentials=credentials,
        latency_s=_latency_in(latency),
        calls_per_item=_above_zero(calls_per_item),
        cache_hits=_share_in(cache_hits),
        cost=_cost_in(cost or []),
    )
    inputs = await plan_inputs_of(cli, settings, what, given)
    rows, helps = plans_for(inputs)
    now_us = cli.clock.now()
    if as_json:
        cli.screen.json(plan_json(inputs, rows, helps, now_us))
        return
    show_plan(cli.screen, inputs, rows, helps, now_us)


def plans_for(inputs: PlanInputs) -> tuple[list[Forecast], list[Advice]]:
    """Forecasts for 1, 2 and the assumed number of credentials, or for guessed limits.

    The guesses are used if no limit is known. A provider without credentials has one forecast.
    """
    workload, replace = inputs.workload, msgspec.structs.replace
    if not workload.requests:
        return [], []
    if inputs.origin == "unknown":
        guesses = (Assumed(parse_limits(text)) for text in GUESSES)
        return [
            forecast_runs(replace(workload, assumed=each), inputs.now_s) for each in guesses
        ], []
    likely = forecast_runs(workload, inputs.now_s)
    others = {1, 2} - {workload.credentials} if inputs.pooled else set()
    rows = [forecast_runs(replace(workload, credentials=each), inputs.now_s) for each in others]
    rows = sorted([likely, *rows], key=lambda row: row.workload.credentials)
    return rows, advise(likely, inputs.now_s, pooled=inputs.pooled, published=inputs.published)


def _limits_in(text: str | None) -> tuple[Limit, ...] | None:
    if text is None:
        return None
    try:
        limits = parse_limits(text)
    except ValueError as error:
        raise UsageError(f"--limit {error}") from error
    if not limits:
        raise UsageError("--limit is empty: write it as 5/s, '10/s, 100/min' or 1/3s")
    return limits


def _latency_in(text: str | None) -> float | None:
    if text is None:
        return None
    found = _TIME.fullmatch(text.strip().lower())
    seconds = float(found[1]) / (1_000 if found[2] == "ms" else 1) if found else 0.0
    if not 0 < seconds <= 3_600:
        raise UsageError(f"--latency {text!r}: write a time above 0, as 200ms or 1.5s")
    return seconds


def _share_in(text: str | None) -> float | None:
    if text is None:
        return None
    number, percent, _ = text.strip().partition("%")
    try:
        share = float(number) / (100 if percent else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise UsageError(f"--cache-hits {text!r}: write a share of the calls, as 30% or 0.3")
    return share


def _above_zero(calls: float | None) -> float | None:
    if calls is not None and not 0 < calls <= 1e6:
        raise UsageError(f"--calls-per-item {calls:g}: write a number above 0, as 1 or 2.5")
    return calls


def _cost_in(parts: list[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in parts:
        name, _, number = part.partition("=")
        try:
            amount = float(number)
        except ValueError:
            amount = -1.0
        if not name.strip() or not 0 < amount < 1e15:
            raise UsageError(f"--cost {part!r}: write a name and an amount, as tokens=1200")
        found[name.strip()] = amount
    return found


def register(app: typer.Typer) -> None:
    examples = [
        "headgate plan products.csv --provider crossref",
        "headgate plan 3 --limit '10/s, 100/min' --credentials 4",
        "headgate plan products.csv --limit 20/s --latency 300ms --cache-hits 30% --json",
    ]
    command(app, "plan", examples)(plan)
