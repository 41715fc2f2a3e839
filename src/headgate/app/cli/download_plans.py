"""`headgate download --dry-run`: where each file would come from; no file is fetched."""

import os
from collections.abc import Iterator
from random import Random
from typing import Any

from headgate.app.cli.exit_codes import Exit
from headgate.app.cli.runtime import CliContext
from headgate.app.download.plans import Planned, Planner
from headgate.app.http_factory import HttpFactory
from headgate.app.settings import Settings
from headgate.core.job import LOCAL_OWNER
from headgate.core.words import agreeing, counted
from headgate.handlers.download.handler import Download
from headgate.handlers.download.plan import Plan
from headgate.ports.gate import Turn
from headgate.ports.handler import HandlerSpec
from headgate.ports.source import Source

NO_JOB = 0


async def show_plans(
    cli: CliContext, settings: Settings, spec: HandlerSpec, source: Source, *, as_json: bool
) -> Exit:
    """Ask the services, paced and cached as in earnest, and print what they say of each row."""
    download = spec.call
    if not isinstance(download, Download):
        raise TypeError(f"{spec.name} makes no plans")
    rows = placed = 0
    # What services were learned to stand is kept, so that the run in earnest begins with it.
    async with cli.store(settings, create=True) as store:
        rng = Random()  # noqa: S311  jitter
        traffic = HttpFactory(settings, store, f"dry-run-{os.getpid()}", cli.clock, rng)
        traffic.adopt(spec.providers)
        http = traffic(
            Turn(LOCAL_OWNER, NO_JOB),
            spec.provider or "",
            lambda _: None,
            guarded=spec.guarded,
            blocking=False,
        )
        planner = Planner(download, http, cli.clock, settings.worker.concurrency)
        try:
            async for planned in planner.run(source):
                rows += 1
                placed += bool(planned.plans)
                if as_json:
                    cli.screen.json(plan_json(planned))
                else:
                    for line in in_words(planned):
                        cli.screen.line(line)
        finally:
            await traffic.close()
    have = agreeing(placed, "has", "have")
    found = f"{placed:,} of {counted(rows, 'row')} {have} a place to try"
    cli.screen.say(f"{found}; nothing was fetched", "bold")
    return Exit.OK


def plan_json(planned: Planned) -> dict[str, Any]:
    """A row for JSON."""
    return {
        "line": planned.line,
        "id": planned.id or None,
        "input": planned.input,
        "plans": planned.plans,
        "misses": [
            {"resolver": miss.resolver, "reason": miss.reason, "words": miss.words}
            for miss in planned.misses
        ],
        "problem": planned.problem or None,
    }


def in_words(planned: Planned) -> Iterator[str]:
    """A row and its plans, a line each."""
    yield planned.id or f"line {planned.line}: {planned.input}"
    if planned.problem:
        yield f"    bad row: {planned.problem}"
    for number, plan in enumerate(planned.plans, 1):
        yield f"    {number}. {plan.resolver}  {plan.url}{_about(plan)}"
    if not planned.plans:
        for miss in planned.misses:
            yield f"    - {miss.resolver}: {miss.words}"


def _about(plan: Plan) -> str:
    facts = ", ".join(each for each in (plan.version, plan.license) if each)
    return f"  ({facts})" if facts else ""
