"""`headgate export`: write a job's rows to a file, or compare a file with the store."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from headgate.app.cli.exit_codes import Exit
from headgate.app.cli.options import JobId, Json, OutDelimiter, OutEncoding, files_of
from headgate.app.cli.runtime import CliContext, command
from headgate.app.output_check import require_output
from headgate.core.errors import UsageError
from headgate.core.words import counted
from headgate.transfer.files import STDOUT
from headgate.transfer.formats.cells import Formulas
from headgate.transfer.formats.registry import WRITABLE, FormatName
from headgate.transfer.sources import WriteOptions

OutFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="[FILE]",
        help=f"The file to write: {files_of(WRITABLE)}; - is standard output.",
    ),
]
Compared = Annotated[
    Path | None,
    typer.Option(
        "--check", metavar="FILE", help="Write nothing: compare FILE with the store instead."
    ),
]
StatedFormat = Annotated[
    FormatName | None,
    typer.Option("--format", help="The format of FILE, if not clear from its name."),
]
FormulaCells = Annotated[
    Formulas,
    typer.Option(
        "--formulas", help="What to do with cells that a spreadsheet would run as formulas."
    ),
]


async def export(
    cli: CliContext,
    *,
    job_id: JobId,
    out: OutFile = None,
    check: Compared = None,
    file_format: StatedFormat = None,
    formulas: FormulaCells = Formulas.NEUTRAL,
    out_delimiter: OutDelimiter = None,
    out_encoding: OutEncoding = None,
    as_json: Json = False,
) -> Exit:
    """Write a job's rows with their results, also while it runs; the file appears when complete."""
    if check is not None and out is None:
        return await _compare(cli, job_id, check, file_format, as_json=as_json)
    if check is not None or out is None:
        raise UsageError("name one file: the file to write, or with --check the file to compare")
    if out == STDOUT and as_json:
        raise UsageError("--json and - both write to standard output: leave out one")
    if out == STDOUT and file_format is None:
        file_format = FormatName("csv")
    require_output(out, [], "FILE")
    options = WriteOptions(file_format, formulas, out_delimiter, out_encoding)
    async with cli.service() as service:
        report = await service.exports.write(job_id, out, options)
    if as_json:
        cli.screen.json(report)
        return Exit.OK
    left = f"; {report.cutoff.open_items:,} are not finished yet" if report.cutoff else ""
    place = "standard output" if out == STDOUT else out
    cli.screen.say(f"wrote {place} ({counted(report.rows, 'row')}{left})")
    for note in report.notes:
        cli.screen.warn(note)
    return Exit.OK


async def _compare(
    cli: CliContext, job_id: int, file: Path, stated: FormatName | None, *, as_json: bool
) -> Exit:
    async with cli.service() as service:
        report = await service.exports.check(job_id, file, stated)
    code = Exit.PROBLEMS if report.difference else Exit.OK
    if as_json:
        cli.screen.json({**msgspec.to_builtins(report), "equal": not report.difference})
    elif report.difference:
        cli.screen.fail(f"{file} differs from job {job_id}: {report.difference}")
    else:
        cli.screen.say(
            f"{file} equals job {job_id}: {counted(report.rows, 'row')}, {report.sha256}"
        )
    return code


def register(app: typer.Typer, path: str = "headgate export") -> None:
    examples = [f"{path} 3 results.xlsx", f"{path} 3 so-far.jsonl --json"]
    examples.append(f"{path} 3 --check results.xlsx")
    command(app, "export", examples, far=True)(export)
