"""Commands on one mirror: verify it, export its streams."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from headgate.app.cli.exit_codes import Exit
from headgate.app.cli.export import FormulaCells
from headgate.app.cli.extract_tables import TablesOrder, export_tables
from headgate.app.cli.mirror_choice import FoundStream, find_mirror, find_stream
from headgate.app.cli.options import Json, OutDelimiter, OutEncoding, files_of
from headgate.app.cli.runtime import CliContext
from headgate.app.extract.mirror_choice import (
    chosen_mirror,
    newest_checkpoints,
    source_of,
)
from headgate.app.extract.sampling import SampledPass
from headgate.app.extract.verify import MirrorCheck, StreamCheck
from headgate.app.output_check import require_output
from headgate.app.service import MirrorVerbs, PageOf
from headgate.core.errors import UsageError
from headgate.core.time_text import stamp
from headgate.core.words import counted
from headgate.engine.mirror_export import (
    DELETED_AT,
    Rows,
    StreamExport,
    StreamTable,
    export_stream,
)
from headgate.ports.mirrors import Mirror
from headgate.ports.source import RowWriter
from headgate.schema.mirrors import RowView
from headgate.transfer.files import STDOUT
from headgate.transfer.formats.cells import Formulas
from headgate.transfer.formats.registry import FORMATS, WRITABLE, FormatName
from headgate.transfer.sources import WriteOptions, open_writer
from headgate.transfer.tables.registry import is_tables

CSV = FormatName("csv")
PAGE = 1_000
OneMirror = Annotated[
    str | None,
    typer.Argument(metavar="[MIRROR]", help="The mirror's name; needed if there are several."),
]
Out = Annotated[
    Path,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help=f"The file to write: {files_of(WRITABLE)}, .sqlite or .duckdb; - is standard output."
        " With --all a folder, or one .sqlite or .duckdb file.",
    ),
]
Exported = Annotated[
    str,
    typer.Argument(
        metavar="[MIRROR/]STREAM", help="The stream to write; with --all the mirror's name."
    ),
]
AllStreams = Annotated[
    bool,
    typer.Option("--all", help="Write every stream: each to a file, or to a table of one file."),
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
    cli: CliContext, *, mirror: OneMirror = None, remote: Remote = False, as_json: Json = False
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
    name: Exported,
    out: Out,
    every: AllStreams = False,
    deleted: Deleted = False,
    file_format: StatedFormat = None,
    formulas: FormulaCells = Formulas.NEUTRAL,
    out_delimiter: OutDelimiter = None,
    out_encoding: OutEncoding = None,
    as_json: Json = False,
) -> Exit:
    """Write the rows of a stream, or of all streams; a file appears when it is complete."""
    if out == STDOUT and (as_json or every):
        raise UsageError("--out - is for one stream, and without --json: name a file or a folder")
    if is_tables(out) and file_format is None:
        chosen = TablesOrder(name=name, out=out, every=every, deleted=deleted)
        return await export_tables(cli, chosen, as_json=as_json)
    if file_format is None and (every or out == STDOUT):
        file_format = CSV
    options = WriteOptions(file_format, formulas, out_delimiter, out_encoding)
    async with cli.service() as service:
        if every:
            mirror = await find_mirror(service.mirrors, name)
            streams = [FoundStream(mirror, each) for each in mirror.streams]
            files = _files(out, streams, file_format or CSV)
        else:
            files = {out: await find_stream(service.mirrors, name)}
        for file in files:
            require_output(file, [], "--out")
        work = _Export(cli, service.mirrors, deleted=deleted)
        reports = [
            (file, await work.write(each, open_writer(file, options)))
            for file, each in files.items()
        ]
    _print_written(cli, reports, as_json=as_json)
    return Exit.OK


class _Export:
    """Writes streams of a store or of a server."""

    def __init__(self, cli: CliContext, mirrors: MirrorVerbs, *, deleted: bool) -> None:
        self._cli = cli
        self._mirrors = mirrors
        self._deleted = deleted

    async def write(self, found: FoundStream, writer: RowWriter) -> StreamExport:
        fields = await self._mirrors.fields(found.place)
        names = (*(each.name for each in fields), *([DELETED_AT] if self._deleted else []))
        table = StreamTable(found.mirror.name, found.stream.name, names, found.stream.live)
        return await export_stream(table, self._pages(found), writer, stamp(self._cli.clock.now()))

    async def _pages(self, found: FoundStream) -> AsyncIterator[Rows]:
        after: str | None = None
        while True:
            page = await self._mirrors.rows(found.place, PageOf(after, PAGE), deleted=self._deleted)
            yield [self._row(each) for each in page.items]
            after = page.next
            if after is None:
                return

    def _row(self, row: RowView) -> Mapping[str, Any]:
        # From a store it is text that was not parsed, from a server it is an object.
        body = msgspec.json.decode(row.body) if isinstance(row.body, msgspec.Raw) else row.body
        return {**body, DELETED_AT: row.deleted_at} if self._deleted else body


def _files(
    folder: Path, streams: list[FoundStream], file_format: FormatName
) -> dict[Path, FoundStream]:
    """A file for each stream, in a folder that is made if it is missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out {folder}: it is not a folder: {error.strerror}") from error
    ending = FORMATS[file_format].endings[0]
    return {folder / f"{each.stream.name}{ending}": each for each in streams}


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
