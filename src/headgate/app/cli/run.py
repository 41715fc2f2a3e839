"""`headgate run`: run a handler on each row of a file."""

from pathlib import Path
from typing import Annotated

import typer

from headgate.app.cli.exit_codes import Exit
from headgate.app.cli.inputs import STDIN, require_order
from headgate.app.cli.options import ROWS, OutDelimiter, OutEncoding, files_of, option
from headgate.app.cli.run_options import (
    IDENTITY,
    BadRows,
    Config,
    Delimiter,
    Eager,
    Encoding,
    EndJson,
    FailWhen,
    FileFormat,
    FirstRows,
    MaxErrors,
    MaxStall,
    Name,
    New,
    OutFormat,
    Priority,
    RunJobOptions,
    SampleRows,
    Sheet,
    config_in,
    error_limit_in,
)
from headgate.app.cli.run_result import FailOn
from headgate.app.cli.run_steps import Named, RunRequest, run_file, run_named
from headgate.app.cli.runtime import CliContext, command
from headgate.app.cli.trial import require_one_choice
from headgate.app.cli.worker import Concurrency, ItemTimeout, Processes, worker_flags
from headgate.core.errors import UsageError
from headgate.engine.job_runtime import REUSE
from headgate.engine.rows import OnBadRow
from headgate.transfer.files import STDOUT
from headgate.transfer.formats.cells import Formulas
from headgate.transfer.formats.registry import READABLE
from headgate.transfer.sources import ReadOptions, WriteOptions

Handler = Annotated[
    str | None,
    typer.Argument(
        metavar="HANDLER", help="file.py:function, module:function, lookup.toml or a name."
    ),
]
RowsFile = Annotated[
    str | None,
    typer.Argument(
        metavar="FILE",
        help=f"The rows: {files_of(READABLE)}; - is standard input.",
    ),
]
Out = Annotated[
    Path | None,
    option(
        "--out",
        "-o",
        panel=ROWS,
        metavar="FILE",
        about="The file for the results; - is standard output.",
    ),
]
KeyColumns = Annotated[
    str | None,
    option(
        "--key",
        panel=IDENTITY,
        metavar="COL[,COL]",
        about="The columns that identify a row; default: its position in the file.",
    ),
]
ResumedJob = Annotated[
    int | None,
    option(
        "--job",
        panel=IDENTITY,
        metavar="N",
        about="Resume this job; HANDLER and FILE are needed only if they were moved.",
    ),
]
RetryFailed = Annotated[
    bool,
    option("--retry-failed", panel=IDENTITY, about="Run rows that ended in ERROR again."),
]
Reuse = Annotated[
    str | None,
    option(
        "--reuse",
        panel=ROWS,
        metavar="TIME",
        about="Reuse results of earlier jobs up to this age: 12h, 30d.",
    ),
]
FormulaCells = Annotated[
    Formulas,
    option(
        "--formulas",
        panel=ROWS,
        about="What to do with cells that a spreadsheet would run as formulas.",
    ),
]


async def run(
    cli: CliContext,
    *,
    handler: Handler = None,
    file: RowsFile = None,
    out: Out = None,
    key: KeyColumns = None,
    job: ResumedJob = None,
    new: New = False,
    retry_failed: RetryFailed = False,
    name: Name = "",
    config: Config = None,
    concurrency: Concurrency = None,
    processes: Processes = None,
    item_timeout: ItemTimeout = None,
    reuse: Reuse = None,
    limit: FirstRows = None,
    sample: SampleRows = None,
    priority: Priority = 0,
    eager: Eager = False,
    on_bad_row: BadRows = OnBadRow.ITEM_ERROR,
    formulas: FormulaCells = Formulas.NEUTRAL,
    file_format: FileFormat = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    out_format: OutFormat = None,
    out_delimiter: OutDelimiter = None,
    out_encoding: OutEncoding = None,
    fail_on: FailWhen = FailOn.ERROR,
    max_errors: MaxErrors = None,
    max_stall: MaxStall = 3_600.0,
    as_json: EndJson = False,
) -> Exit:
    """Run HANDLER on every row of FILE; run it again to resume."""
    settings = cli.load(*worker_flags(concurrency, processes, item_timeout)).settings
    require_one_choice(limit, sample)
    options = RunJobOptions(
        file=Path(file or ""),
        source=STDIN if file == STDIN else "",
        key_columns=tuple(part.strip() for part in key.split(",")) if key else (),
        new=new,
        retry_failed=retry_failed,
        name=name or (f"{handler} standard input" if file == STDIN else ""),
        config=config_in(config or []) | ({REUSE: reuse} if reuse else {}),
        reading=ReadOptions(file_format, delimiter, encoding, sheet),
        priority=priority,
        eager=eager,
        on_bad_row=on_bad_row,
        fail_on=fail_on,
        max_errors=error_limit_in(max_errors),
        max_stall_s=max_stall,
        as_json=as_json,
    )
    if as_json and out == STDOUT:
        raise UsageError("--json and --out - both write to standard output: leave out one")
    writing = WriteOptions(out_format, formulas, out_delimiter, out_encoding)
    wanted = RunRequest(out, writing, limit, sample)
    if job is not None:
        return await run_named(cli, settings, Named(job, handler, file), options, wanted)
    if handler is None or file is None:
        raise UsageError("name a handler and a file: headgate run HANDLER FILE")
    require_order(handler, file)
    return await run_file(cli, settings, handler, options, wanted)


def register(app: typer.Typer) -> None:
    examples = [
        "headgate run lookup.py:price products.csv --out priced.csv --concurrency 64",
        "headgate run lookup.py:price products.csv --limit 10",
        "headgate run lookup.py:price products.csv --max-errors 5%",
        "headgate run lookup.py:price products.csv --key sku --retry-failed",
        "headgate run mypkg.enrich:person people.jsonl --config region=eu --json",
        "headgate run --job 3 --out priced.csv",
        "zcat rows.csv.gz | headgate run lookup.py:price - --out - > priced.csv",
    ]
    command(app, "run", examples)(run)
