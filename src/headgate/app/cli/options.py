"""Options and arguments that several commands share: parsers of their values, and completion."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from headgate.app.service import ItemVerbs
from headgate.core.errors import UnknownItem, UsageError
from headgate.core.fault import FaultClass
from headgate.core.status import FINISHED, ItemStatus
from headgate.core.time_text import SPANS, parse_span
from headgate.schema.items import ItemView
from headgate.transfer.formats.registry import FORMATS, IMAGES

ROWS = "Rows in and out"
YEAR_S = 366 * 86_400.0


Offer = list[tuple[str, str]]
"""Pairs of a completion and its description."""
NEWEST = 50


def job_numbers(ctx: typer.Context, incomplete: str) -> Offer:
    try:
        return asyncio.run(_jobs(ctx, incomplete))
    except Exception:  # noqa: BLE001  completion must not print errors into the shell
        return []


async def _jobs(ctx: typer.Context, incomplete: str) -> Offer:
    from headgate.app.cli.runtime import CliContext, Flags  # noqa: PLC0415  it imports this module's users

    given = {name: ctx.params.get(name) for name in ("config_file", "db", "server")}
    async with CliContext(Flags(**given, quiet=True)).service() as service:
        jobs = await service.jobs.ls(0, NEWEST)
    return [(job.id, f"{job.name} ({job.state})") for job in jobs if job.id.startswith(incomplete)]


def statuses(incomplete: str) -> list[str]:
    """Statuses, also after the comma of a list."""
    before, comma, last = incomplete.rpartition(",")
    taken = set(before.upper().split(","))
    return [
        f"{before}{comma}{status}"
        for status in ItemStatus
        if status.startswith(last.upper()) and status not in taken
    ]


def error_classes(incomplete: str) -> list[str]:
    return [each for each in FaultClass if each.startswith(incomplete.lower())]


def option(*names: str, panel: str, about: str, metavar: str | None = None) -> Any:
    return typer.Option(*names, help=about, metavar=metavar, rich_help_panel=panel)


Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would happen; change nothing.")]
JobId = Annotated[
    int,
    typer.Argument(
        metavar="JOB", help="The job's number, from `jobs ls`.", autocompletion=job_numbers
    ),
]
ItemName = Annotated[
    str, typer.Argument(metavar="ITEM", help="The item's number, from `items ls`, or its key.")
]
OfJob = Annotated[
    int | None,
    typer.Option(
        "--job", metavar="JOB", help="ITEM is a key in this job.", autocompletion=job_numbers
    ),
]
Statuses = Annotated[
    str | None,
    typer.Option(
        "--status",
        metavar="S[,S]",
        help="Only items in these statuses.",
        autocompletion=statuses,
    ),
]
ErrorClass = Annotated[
    str | None,
    typer.Option(
        "--error-class",
        metavar="CLASS",
        help="Only failures of this error class.",
        autocompletion=error_classes,
    ),
]
ResetAttempts = Annotated[
    bool,
    typer.Option("--reset-attempts", help="Set the attempt count of the items back to 0."),
]
After = Annotated[
    str | None,
    typer.Option("--after", metavar="CURSOR", help="Continue after an earlier page."),
]
Limit = Annotated[int, typer.Option("--limit", min=1, max=10_000, help="Rows per page.")]
OutDelimiter = Annotated[
    str | None,
    option(
        "--out-delimiter",
        panel=ROWS,
        metavar="CHAR",
        about="The delimiter of a CSV file that is written; default: a comma.",
    ),
]
OutEncoding = Annotated[
    str | None,
    option(
        "--out-encoding",
        panel=ROWS,
        metavar="NAME",
        about="The encoding of a CSV file that is written; utf-8-sig for Excel; default: utf-8.",
    ),
]


def files_of(names: Sequence[str]) -> str:
    found = [FORMATS[name] for name in names]
    packed = ", ".join(each.endings[0] for each in found if each.by_lines)
    others = [each.endings[0] for each in found if not each.by_lines and each.name != IMAGES]
    others += ["images"] if IMAGES in names else []
    return f"{packed} (also .gz), {', '.join(others[:-1])} or {others[-1]}"


def statuses_in(text: str | None, *, finished: bool = False) -> frozenset[ItemStatus] | None:
    if text is None:
        return None
    names = frozenset(part.strip().upper().replace("-", "_") for part in text.split(","))
    allowed = FINISHED if finished else frozenset(ItemStatus)
    if unknown := sorted(names - allowed):
        choices = ", ".join(status for status in ItemStatus if status in allowed)
        raise UsageError(f"--status {unknown[0] or text!r}: use {choices}")
    return frozenset(ItemStatus(name) for name in names)


def error_class_in(text: str | None) -> FaultClass | None:
    if text is None:
        return None
    name = text.strip().lower().replace("-", "_")
    if name not in set(FaultClass):
        raise UsageError(f"--error-class {text!r}: use {', '.join(FaultClass)}")
    return FaultClass(name)


def ids_in(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise UsageError(f"--ids {text!r}: write item numbers, as in --ids 17,23") from error


def seconds_in(text: str | None, option: str) -> float | None:
    """The seconds in a span of time within a year; None if the option was not given."""
    if text is None:
        return None
    try:
        seconds = parse_span(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= YEAR_S:
        raise UsageError(f"{option} {text!r}: write a time within a year, as {SPANS}")
    return seconds


def confirm(question: str, *, yes: bool) -> None:
    """Ask before an action that cannot be undone; without a terminal, `--yes` is required."""
    if yes:
        return
    if not typer.get_text_stream("stdin").isatty():
        raise UsageError(
            f"{question} This is not a terminal: add --yes to agree, or --dry-run to see the effect"
        )
    try:
        agreed = typer.confirm(question, err=True)
    except typer.Abort:  # Ctrl-C or Ctrl-D at the question
        agreed = False
    if not agreed:
        raise UsageError("nothing was changed")


SHOWN = 5


async def item_id_of(items: ItemVerbs, name: str, job_id: int | None = None) -> int:
    """The item's number; UnknownItem if there is none, UsageError if several jobs have the key.

    Without `job_id`, digits are an item's number. With it, `name` is a key of that job.
    """
    number = int(name) if name.isascii() and name.isdigit() and len(name) < 19 else None
    if number is not None and job_id is None:
        return number
    found = await items.by_key(name, job_id)
    if len(found) == 1:
        return int(found[0].id)
    if found:
        raise UsageError(_several(name, found))
    where = "" if job_id is None else f" in job {job_id}"
    raise UnknownItem(
        f"no item has the key {name!r}{where}; `headgate items ls JOB --search TEXT`"
        " finds items by a part of the key"
    )


def _several(name: str, found: Sequence[ItemView]) -> str:
    jobs = ", ".join(str(row.job_id) for row in found[:SHOWN])
    more = ", …" if len(found) > SHOWN else ""
    return (
        f"the key {name!r} is in several jobs ({jobs}{more}): say which with --job, as in"
        f" --job {found[0].job_id}"
    )
