"""`headgate run`: one command from a file of rows to a file of results."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from headgate.app.cli.batch import BatchOptions, BatchRun, FailOn
from headgate.app.cli.batch_options import (
    IDENTITY,
    ROWS,
    BadRows,
    Config,
    Delimiter,
    Eager,
    Encoding,
    EndJson,
    FailWhen,
    FileFormat,
    MaxStall,
    Name,
    New,
    Priority,
    Sheet,
    config_in,
    option,
)
from headgate.app.cli.desk import Desk, command
from headgate.app.cli.exits import Exit
from headgate.app.cli.outlet import ExportFile
from headgate.app.cli.worker import Concurrency, ItemTimeout, Processes, worker_flags
from headgate.app.data_folder import data_folder
from headgate.app.job_files import LOCAL, JobFiles
from headgate.engine.rows import OnBadRow
from headgate.engine.work import REUSE, reuse_in
from headgate.handlers.registry import resolve
from headgate.transfer.blob_sink import StoreSink
from headgate.transfer.formats.cells import Formulas
from headgate.transfer.sources import ReadOptions, WriteOptions, open_source, open_writer


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
            metavar="FILE", help="The rows: CSV, TSV, JSON Lines, XLSX, Parquet, a list or images."
        ),
    ],
    out: Annotated[
        Path | None,
        option("--out", "-o", panel=ROWS, metavar="FILE", about="Where the results go."),
    ] = None,
    key: Annotated[
        str | None,
        option(
            "--key",
            panel=IDENTITY,
            metavar="COL[,COL]",
            about="What names a row; default: its position in the file.",
        ),
    ] = None,
    new: New = False,
    retry_failed: Annotated[
        bool,
        option("--retry-failed", panel=IDENTITY, about="Try rows that ended in ERROR again."),
    ] = False,
    name: Name = "",
    config: Config = None,
    concurrency: Concurrency = None,
    processes: Processes = None,
    item_timeout: ItemTimeout = None,
    reuse: Annotated[
        str | None,
        option(
            "--reuse", panel=ROWS, metavar="TIME", about="Take over results at most so old: 30d."
        ),
    ] = None,
    priority: Priority = 0,
    eager: Eager = False,
    on_bad_row: BadRows = OnBadRow.ITEM_ERROR,
    formulas: Annotated[
        Formulas,
        option(
            "--formulas", panel=ROWS, about="Whether cells that a spreadsheet would run are kept."
        ),
    ] = Formulas.NEUTRAL,
    file_format: FileFormat = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    fail_on: FailWhen = FailOn.ERROR,
    max_stall: MaxStall = 3_600.0,
    as_json: EndJson = False,
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
        outlet = ExportFile(store.reads, desk.clock, writer, out) if writer and out else None
        return await BatchRun(desk, settings, store, options).go(spec, source, outlet)


def register(app: typer.Typer) -> None:
    """Add the command to the root."""
    examples = [
        "headgate run lookup.py:price products.csv --out priced.csv --concurrency 64",
        "headgate run lookup.py:price products.csv --key sku --retry-failed",
        "headgate run mypkg.enrich:person people.jsonl --config region=eu --json",
    ]
    command(app, "run", examples)(run)
