"""`headgate download report`: the outcomes of a download job, and its requests by host."""

from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from headgate.app.cli.options import JobId, Json
from headgate.app.cli.render.times import span, volume
from headgate.app.cli.report import conduct_json
from headgate.app.cli.runtime import CliContext, command
from headgate.app.download.records import write_records
from headgate.app.download.report import HostTraffic, Report, report_of
from headgate.core.download_folder import ATTEMPTS, MANIFEST
from headgate.core.errors import UsageError
from headgate.core.job import Job
from headgate.core.politeness import Conduct
from headgate.core.words import counted

IN_WORDS = {"cut": "connection ended before the file was complete"}
"""Reason codes that need an explanation."""
MOST_SHOWN = 20
HANDLER = "download"


async def report(
    cli: CliContext,
    *,
    job_id: JobId,
    records: Annotated[
        bool,
        typer.Option(
            "--records",
            help=f"Write {MANIFEST} and {ATTEMPTS} again, into the job's folder.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Summarize a download job: outcomes by resolver, cache, bytes, waits and politeness."""
    async with cli.store() as store:
        job = await store.reads.job(job_id)
        folder = folder_of(job)
        if records:
            written = await write_records(store.history, job_id, folder)
            cli.screen.say(
                f"wrote {folder / MANIFEST} ({counted(written.lines, 'line')})"
                f" and {ATTEMPTS} ({counted(written.steps, 'step')})"
            )
        found = await report_of(store.history, job_id)
    if as_json:
        cli.screen.json({"job_id": job_id, "out": str(folder), **report_json(found)})
    else:
        _print(cli, job, folder, found)


def folder_of(job: Job) -> Path:
    """The output folder of a download job; UsageError for another kind of job."""
    out = job.config.get("out")
    if job.handler != HANDLER or not isinstance(out, str):
        raise UsageError(
            f"job {job.id} is not a download job (its handler is {job.handler});"
            f" see: headgate jobs show {job.id}"
        )
    return Path(out)


def report_json(found: Report) -> dict[str, Any]:
    shape: dict[str, Any] = msgspec.to_builtins(found)
    return {
        **shape,
        "latest": traffic_json(found.latest),
        "traffic": traffic_json(found.traffic),
        "hosts": [conduct_json(each) for each in found.hosts],
    }


def traffic_json(traffic: HostTraffic) -> dict[str, Any]:
    return {
        **msgspec.to_builtins(traffic),
        "waited_s": round(traffic.waited_s, 3),
        "cache_hit_ratio": round(traffic.cache_ratio, 6),
        "revalidation_ratio": round(traffic.revalidation_ratio, 6),
    }


def _print(cli: CliContext, job: Job, folder: Path, found: Report) -> None:
    screen = cli.screen
    screen.line(f"Download job {job.id}, {job.name}: {job.state}", "bold")
    rest = f", {found.unfinished:,} not finished" if found.unfinished else ""
    screen.facts({"folder": folder, "items": f"{found.items:,}{rest}"})
    if found.resolvers:
        screen.line("")
        screen.table(
            ("RESOLVER", "#DONE", "#SKIPPED", "#NOT FOUND", "#ERROR", "#SIZE"),
            [
                (one.resolver, one.done, one.skipped, one.not_found, one.error, volume(one.bytes))
                for one in found.resolvers
            ],
        )
    if found.reasons:
        screen.line("")
        screen.table(
            ("OUTCOME", "WHY", "#ITEMS"),
            [
                (one.outcome, IN_WORDS.get(one.reason, one.reason), one.items)
                for one in found.reasons[:MOST_SHOWN]
            ],
        )
        _print_more(cli, len(found.reasons), "reasons")
    _print_traffic(cli, found)
    _print_hosts(cli, found.hosts)


def _print_traffic(cli: CliContext, found: Report) -> None:
    again = found.latest != found.traffic
    columns = [traffic_facts(each) for each in ([found.latest] if again else []) + [found.traffic]]
    cli.screen.line("")
    cli.screen.table(
        ("TRAFFIC", *(("#LAST VISIT", "#ALL VISITS") if again else ("#",))),
        [(name, *(facts[name] for facts in columns)) for name in columns[0]],
    )


def traffic_facts(traffic: HostTraffic) -> dict[str, str]:
    return {
        "requests sent": f"{traffic.requests:,}",
        "answered by the cache": f"{traffic.cached:,} ({traffic.cache_ratio:.1%})",
        "confirmed by 304": f"{traffic.confirmed:,} ({traffic.revalidation_ratio:.1%})",
        "refused (429 and similar)": f"{traffic.refused:,}",
        "no answer": f"{traffic.failed:,}",
        "not sent (robots.txt)": f"{traffic.barred:,}",
        "received": volume(traffic.bytes),
        "waited at gates, total": span(traffic.waited_s),
    }


def _print_hosts(cli: CliContext, hosts: list[Conduct] | Any) -> None:
    if not hosts:
        return
    cli.screen.line("")
    cli.screen.table(
        ("HOST", "#REQUESTS", "#PEAK/S", "#REFUSED", "#304", "#CACHED", "#ROBOTS", "#PAUSED"),
        [
            (
                one.name,
                one.requests,
                one.peak_per_s,
                one.refused,
                one.confirmed,
                one.spared,
                one.barred,
                span(one.honouring_s) if one.honouring_s else "-",
            )
            for one in hosts[:MOST_SHOWN]
        ],
    )
    _print_more(cli, len(hosts), "hosts")
    cli.screen.say("paused: time that the host asked us to wait, by Retry-After or Crawl-delay")


def _print_more(cli: CliContext, count: int, what: str) -> None:
    if count > MOST_SHOWN:
        cli.screen.say(f"and {count - MOST_SHOWN:,} other {what}: see all with --json")


def register(app: typer.Typer) -> None:
    examples = [
        "headgate download report 4",
        "headgate download report 4 --json | jq .traffic.cache_hit_ratio",
        "headgate download report 4 --records",
    ]
    command(app, "download report", examples)(report)
