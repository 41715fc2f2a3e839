"""`headgate download --dry-run`: ask the resolvers where each file is; download nothing."""

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
    """Ask the resolvers, with the pace and the cache of a real run, and print their answers."""
    download = spec.call
    if not isinstance(download, Download):
        raise TypeError(f"{spec.name} makes no plans")
    rows = placed = 0
    # The store keeps the learned limits, so that the real run starts with them.
    async with cli.store(settings, create=True) as store:
        rng = Random()  # noqa: S311  jitter
        factory = HttpFactory(settings, store, f"dry-run-{os.getpid()}", cli.clock, rng)
        factory.adopt(spec.providers)
        http = factory(
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
                    for line in plan_lines(planned):
                        cli.screen.line(line)
        finally:
            await factory.close()
    have = agreeing(placed, "has", "have")
    found = f"{placed:,} of {counted(rows, 'row')} {have} a place to try"
    cli.screen.say(f"{found}; nothing was downloaded", "bold")
    return Exit.OK


def plan_json(planned: Planned) -> dict[str, Any]:
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


def plan_lines(planned: Planned) -> Iterator[str]:
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
