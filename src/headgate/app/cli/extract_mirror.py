"""Commands on one mirror: verify it, export its streams."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from headgate.app.cli.exit_codes import Exit
from headgate.app.cli.export import FormulaCells
from headgate.app.cli.options import Json, OutDelimiter, OutEncoding, files_of
from headgate.app.cli.runtime import CliContext
from headgate.app.extract.mirror_choice import (
    chosen_mirror,
    chosen_stream,
    newest_checkpoints,
    source_of,
)
from headgate.app.extract.sampling import SampledPass
from headgate.app.extract.verify import MirrorCheck, StreamCheck
from headgate.app.output_check import require_output
from headgate.core.errors import UsageError
from headgate.core.words import counted
from headgate.engine.mirror_export import MirrorExport, StreamExport
from headgate.ports.mirrors import Mirror, Stream
from headgate.transfer.files import STDOUT
from headgate.transfer.formats.cells import Formulas
from headgate.transfer.formats.registry import FORMATS, WRITABLE, FormatName
from headgate.transfer.sources import WriteOptions, open_writer

CSV = FormatName("csv")
MirrorName = Annotated[
    str | None,
    typer.Option("--mirror", metavar="NAME", help="The mirror, if there are several."),
]
Out = Annotated[
    Path,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help=f"The file to write: {files_of(WRITABLE)}; - is standard output. With --all a folder.",
    ),
]
OneStream = Annotated[str | None, typer.Argument(metavar="[STREAM]", help="The stream to write.")]
AllStreams = Annotated[
    bool, typer.Option("--all", help="Write every stream, each to a file of its own.")
]
Deleted = Annotated[
    bool,
    typer.Option("--deleted", help="Also deleted rows, with the column _deleted_at."),
]
StatedFormat = Annotated[
    FormatName | None,
    typer.Option("--format", help="The format, if not clear from the name; with --all: csv."),
]
Remote = Annotated[
    bool,
    typer.Option(
        "--remote", help="Also compare with the source: its number of rows, and its first page."
    ),
]


async def verify(
    cli: CliContext, *, mirror: MirrorName = None, remote: Remote = False, as_json: Json = False
) -> Exit:
    """Prove a mirror again from the stored pages, and count its rows; exit 6 if that fails."""
    settings = cli.load().settings
    async with cli.store(settings) as store:
        chosen = await chosen_mirror(store, mirror)
        source = await source_of(store, cli.clock, chosen)
        checkpoints = await newest_checkpoints(store, chosen)
        check = MirrorCheck(store.mirrors, source)
        streams = [
            each for each in await store.mirrors.streams(chosen.id) if each.name in checkpoints
        ]
        found = [await check.stream(each, checkpoints[each.name]) for each in streams]
        if remote:
            async with SampledPass(source, settings, store).context(cli.clock) as ctx:
                found = [
                    await check.remote(checked, stream, ctx)
                    for checked, stream in zip(found, streams, strict=True)
                ]
    return _print_verified(cli, chosen, found, as_json=as_json)


def _print_verified(
    cli: CliContext, mirror: Mirror, found: list[StreamCheck], *, as_json: bool
) -> Exit:
    code = Exit.PROBLEMS if any(each.problems for each in found) else Exit.OK
    if as_json:
        shapes = [msgspec.to_builtins(each) for each in found]
        cli.screen.json({"mirror": mirror.name, "streams": shapes, "exit": int(code)})
        return code
    cli.screen.table(
        ("STREAM", "#PASS", "RECORDED", "PROVEN AGAIN", "#LIVE", "FOUND"),
        [
            (
                each.stream,
                each.pass_id,
                each.proof or "not complete",
                each.found,
                each.rows,
                "; ".join(each.problems) or "ok",
            )
            for each in found
        ],
    )
    streams = counted(len(found), "stream")
    bad = sum(bool(each.problems) for each in found)
    if bad:
        cli.screen.fail(
            f"{bad} of {streams} of {mirror.name} are not as recorded or not as in the source;"
            " `headgate extract` lists what has changed, with --full everything"
        )
    else:
        cli.screen.say(f"{streams} of {mirror.name}: proofs and rows are as recorded", "bold")
    return code


async def export(
    cli: CliContext,
    *,
    stream: OneStream = None,
    out: Out,
    every: AllStreams = False,
    mirror: MirrorName = None,
    deleted: Deleted = False,
    file_format: StatedFormat = None,
    formulas: FormulaCells = Formulas.NEUTRAL,
    out_delimiter: OutDelimiter = None,
    out_encoding: OutEncoding = None,
    as_json: Json = False,
) -> Exit:
    """Write the rows of a stream, or of all streams; a file appears when it is complete."""
    if every == (stream is not None):
        raise UsageError("name one stream, or write all of them with --all")
    if out == STDOUT and (as_json or every):
        raise UsageError("--out - is for one stream, and without --json: name a file or a folder")
    if file_format is None and (every or out == STDOUT):
        file_format = CSV
    options = WriteOptions(file_format, formulas, out_delimiter, out_encoding)
    async with cli.store() as store:
        chosen = await chosen_mirror(store, mirror)
        if stream is not None:
            files = {out: await chosen_stream(store, chosen, stream)}
        else:
            files = _files(out, await store.mirrors.streams(chosen.id), options)
        for file in files:
            require_output(file, [], "--out")
        work = MirrorExport(store.mirrors, cli.clock, deleted=deleted)
        reports = [
            (file, await work.run(chosen, each, open_writer(file, options)))
            for file, each in files.items()
        ]
    _print_written(cli, reports, as_json=as_json)
    return Exit.OK


def _files(folder: Path, streams: list[Stream], options: WriteOptions) -> dict[Path, Stream]:
    """A file for each stream, in a folder that is made if it is missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out {folder}: it is not a folder: {error.strerror}") from error
    ending = FORMATS[options.format or CSV].endings[0]
    return {folder / f"{each.name}{ending}": each for each in streams}


def _print_written(
    cli: CliContext, reports: list[tuple[Path, StreamExport]], *, as_json: bool
) -> None:
    if as_json:
        shapes = [{"file": str(file), **msgspec.to_builtins(each)} for file, each in reports]
        cli.screen.json({"exports": shapes})
        return
    for file, report in reports:
        place = "standard output" if file == STDOUT else file
        cli.screen.say(f"wrote {place} ({counted(report.rows, 'row')} of {report.stream})")
        for note in report.notes:
            cli.screen.warn(note)
