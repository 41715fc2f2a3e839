"""`headgate run`: one command from a file of rows to a file of results."""

import asyncio
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from headgate.app.cli.batch import BatchOptions, BatchRun, FailOn
from headgate.app.cli.desk import Desk, command
from headgate.app.cli.exits import Exit
from headgate.app.cli.worker import WORK, Concurrency, ItemTimeout, Processes, worker_flags
from headgate.app.data_folder import data_folder
from headgate.app.job_files import LOCAL, JobFiles
from headgate.core.errors import UsageError
from headgate.engine.rows import OnBadRow
from headgate.engine.work import REUSE, reuse_in
from headgate.handlers.registry import resolve
from headgate.transfer.blob_sink import StoreSink
from headgate.transfer.formats.cells import Formulas
from headgate.transfer.sources import ReadOptions, WriteOptions, open_source, open_writer

IDENTITY = "Which job"
ROWS = "Rows in and out"
END = "When and how to end"


class FormatName(StrEnum):
    """Formats that a file's name may not tell."""

    CSV = "csv"
    TSV = "tsv"
    JSONL = "jsonl"
    XLSX = "xlsx"
    PARQUET = "parquet"
    IMAGES = "images"


def _option(*names: str, panel: str, about: str, metavar: str | None = None) -> Any:
    return typer.Option(*names, help=about, metavar=metavar, rich_help_panel=panel)


async def run(
    desk: Desk,
    *,
    handler: Annotated[
        str,
        typer.Argument(
            metavar="HANDLER", help="file.py:function, module:function, lookup.toml or a name."
        ),
    ],
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="The rows: CSV, TSV, JSON Lines, XLSX, Parquet or images."
        ),
    ],
    out: Annotated[
        Path | None,
        _option("--out", "-o", panel=ROWS, metavar="FILE", about="Where the results go."),
    ] = None,
    key: Annotated[
        str | None,
        _option(
            "--key",
            panel=IDENTITY,
            metavar="COL[,COL]",
            about="What names a row; default: its position in the file.",
        ),
    ] = None,
    new: Annotated[
        bool,
        _option("--new", panel=IDENTITY, about="Begin a new job instead of resuming."),
    ] = False,
    retry_failed: Annotated[
        bool,
        _option("--retry-failed", panel=IDENTITY, about="Try rows that ended in ERROR again."),
    ] = False,
    name: Annotated[
        str, _option("--name", panel=IDENTITY, metavar="TEXT", about="What to call the job.")
    ] = "",
    config: Annotated[
        list[str] | None,
        _option(
            "--config",
            panel=WORK,
            metavar="JSON|KEY=VALUE",
            about="For the handler, as ctx.job.config; may be given again.",
        ),
    ] = None,
    concurrency: Concurrency = None,
    processes: Processes = None,
    item_timeout: ItemTimeout = None,
    reuse: Annotated[
        str | None,
        _option(
            "--reuse", panel=ROWS, metavar="TIME", about="Take over results at most so old: 30d."
        ),
    ] = None,
    priority: Annotated[
        int,
        _option("--priority", panel=WORK, about="Share among your jobs: each step doubles it."),
    ] = 0,
    eager: Annotated[
        bool,
        _option("--eager", panel=WORK, about="Work on the first rows while the last are read."),
    ] = False,
    on_bad_row: Annotated[
        OnBadRow, _option("--on-bad-row", panel=ROWS, about="What becomes of a row that is bad.")
    ] = OnBadRow.ITEM_ERROR,
    formulas: Annotated[
        Formulas,
        _option(
            "--formulas", panel=ROWS, about="Whether cells that a spreadsheet would run are kept."
        ),
    ] = Formulas.NEUTRAL,
    file_format: Annotated[
        FormatName | None,
        _option("--format", panel=ROWS, about="The format of FILE if its name does not tell."),
    ] = None,
    delimiter: Annotated[
        str | None,
        _option("--delimiter", panel=ROWS, metavar="CHAR", about="Between values of a CSV file."),
    ] = None,
    encoding: Annotated[
        str | None,
        _option("--encoding", panel=ROWS, metavar="NAME", about="Of FILE; default: UTF-8."),
    ] = None,
    sheet: Annotated[
        str | None,
        _option(
            "--sheet", panel=ROWS, metavar="NAME", about="Of a workbook; default: the first in use."
        ),
    ] = None,
    fail_on: Annotated[
        FailOn, _option("--fail-on", panel=END, about="What makes the exit code 3.")
    ] = FailOn.ERROR,
    max_stall: Annotated[
        float,
        _option(
            "--max-stall",
            panel=END,
            metavar="S",
            about="End, resumable, when nothing could progress for so many seconds.",
        ),
    ] = 3_600.0,
    as_json: Annotated[
        bool, _option("--json", panel=END, about="End with one JSON object on standard output.")
    ] = False,
) -> Exit:
    """Run HANDLER on every row of FILE; run it again to resume."""
    settings = desk.load(*worker_flags(concurrency, processes, item_timeout)).settings
    # All that can be wrong with the command is found before anything is written.
    given = config_in(config or []) | ({REUSE: reuse} if reuse else {})
    spec = resolve(handler, settings.handlers).configured(given)
    reuse_in(given, spec)
    blobs = JobFiles(data_folder(settings), desk.clock).space(LOCAL)
    source = open_source(
        file,
        ReadOptions(file_format, delimiter, encoding, sheet),
        settings.limits,
        StoreSink(blobs, asyncio.get_running_loop()),
    )
    writer = open_writer(out, WriteOptions(formulas=formulas)) if out else None
    options = BatchOptions(
        file=file,
        out=out,
        key_columns=tuple(part.strip() for part in key.split(",")) if key else (),
        new=new,
        retry_failed=retry_failed,
        name=name,
        config=given,
        priority=priority,
        eager=eager,
        on_bad_row=on_bad_row,
        fail_on=fail_on,
        max_stall_s=max_stall,
        as_json=as_json,
    )
    async with desk.store(settings, create=True) as store:
        return await BatchRun(desk, settings, store, options).go(spec, source, writer)


def config_in(parts: list[str]) -> dict[str, Any]:
    """The configuration in JSON objects and KEY=VALUE pairs, later ones on top."""
    config: dict[str, Any] = {}
    for part in parts:
        if part.lstrip().startswith("{"):
            try:
                config |= msgspec.json.decode(part, type=dict[str, Any])
            except msgspec.MsgspecError as error:
                raise UsageError(f"--config {part!r} is not a JSON object: {error}") from error
            continue
        name, equals, text = part.partition("=")
        if not equals or not name:
            raise UsageError(f"--config {part!r}: write a JSON object or KEY=VALUE")
        config[name] = _value(text)
    return config


def _value(text: str) -> Any:
    """A value that reads as JSON is taken as JSON, so that 3 is a number; all else is text."""
    try:
        return msgspec.json.decode(text)
    except msgspec.MsgspecError:
        return text


def register(app: typer.Typer) -> None:
    """Add the command to the root."""
    examples = [
        "headgate run lookup.py:price products.csv --out priced.csv --concurrency 64",
        "headgate run lookup.py:price products.csv --key sku --retry-failed",
        "headgate run mypkg.enrich:person people.jsonl --config region=eu --json",
    ]
    command(app, "run", examples)(run)
