"""Commands that read mirrors: ls, show, list, schema, diff; and forget."""

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import typer

from headgate.app.cli.mirror_choice import (
    FoundStream,
    find_mirror,
    find_pass,
    find_stream,
)
from headgate.app.cli.options import After, DryRun, Json, Limit, Yes, confirm
from headgate.app.cli.render.jobs import plain
from headgate.app.cli.render.mirrors import (
    difference_json,
    difference_lines,
    mirror_cells,
    mirror_json,
    pass_json,
    print_pass,
    print_row,
    row_cells,
)
from headgate.app.cli.runtime import CliContext, command
from headgate.app.service import MirrorVerbs, PageOf, PassPair
from headgate.core.errors import UnknownMirror, UsageError
from headgate.core.mirror import ChangeKind
from headgate.core.words import counted
from headgate.schema.mirrors import DifferenceView

PAGE = 500
StreamName = Annotated[
    str,
    typer.Argument(
        metavar="[MIRROR/]STREAM", help="A stream; its mirror only if several have that stream."
    ),
]
MirrorName = Annotated[
    str, typer.Argument(metavar="MIRROR", help="The mirror's name, from `extract ls`.")
]
PassName = Annotated[
    str,
    typer.Argument(metavar="PASS", help="The number of a pass, or a mirror: its newest pass."),
]


async def ls(cli: CliContext, as_json: Json = False) -> None:
    """List mirrors with their rows and their newest pass."""
    async with cli.service() as service:
        mirrors = await service.mirrors.ls()
    if as_json:
        cli.screen.json({"mirrors": [mirror_json(each) for each in mirrors]})
        return
    if not mirrors:
        cli.screen.say("there is no mirror yet: `headgate extract SOURCE` makes one")
        return
    now = cli.clock.now()
    cli.screen.table(
        ("MIRROR", "OWNER", "#STREAMS", "#ROWS", "#PASS", "STATE", "CHANGED"),
        [mirror_cells(each, now) for each in mirrors],
    )


async def show(cli: CliContext, name: PassName, as_json: Json = False) -> None:
    """Show a pass: its streams with their proof, its sessions, refusals and rate."""
    async with cli.service() as service:
        found = await find_pass(service.mirrors, name)
        report = await service.mirrors.report(int(found.id)) if found.job else None
    if as_json:
        cli.screen.json(pass_json(found, report))
    else:
        print_pass(cli.screen, found, report)


async def list_rows(
    cli: CliContext,
    *,
    name: StreamName,
    deleted: Annotated[bool, typer.Option("--deleted", help="Also list deleted rows.")] = False,
    row_id: Annotated[
        str | None,
        typer.Option("--id", metavar="ID", help="Show one row with the log of its changes."),
    ] = None,
    limit: Limit = 50,
    after: After = None,
    as_json: Json = False,
) -> None:
    """List the rows of a stream, in the order in which they were first seen."""
    async with cli.service() as service:
        found = await find_stream(service.mirrors, name)
        if row_id is not None:
            row = await service.mirrors.row(found.place, row_id)
            cli.screen.json(plain(row)) if as_json else print_row(cli.screen, row)
            return
        page = await service.mirrors.rows(found.place, PageOf(after, limit), deleted=deleted)
    if as_json:
        cli.screen.json({"rows": [plain(each) for each in page.items], "next": page.next})
        return
    if not page.items:
        cli.screen.say(f"{found.name} has no rows" + ("" if deleted else "; --deleted shows more"))
        return
    columns = ("ID", "UPDATED", "DELETED", "BODY") if deleted else ("ID", "UPDATED", "BODY")
    cli.screen.table(columns, [row_cells(each, deleted=deleted) for each in page.items])
    if page.next:
        cli.screen.say(f"more rows: --after {page.next}")


async def schema(cli: CliContext, name: StreamName, as_json: Json = False) -> None:
    """List the fields that rows of a stream have had, with their JSON types."""
    async with cli.service() as service:
        found = await find_stream(service.mirrors, name)
        fields = await service.mirrors.fields(found.place)
    if as_json:
        shape = {"mirror": found.mirror.name, "stream": found.stream.name}
        cli.screen.json({**shape, "fields": [plain(each) for each in fields]})
        return
    if not fields:
        cli.screen.say(f"{found.name} has had no rows yet")
        return
    cli.screen.table(
        ("FIELD", "TYPES", "#SINCE PASS"),
        [(each.name, ", ".join(each.types), int(each.first_pass)) for each in fields],
    )


async def diff(
    cli: CliContext,
    *,
    older: Annotated[int, typer.Argument(metavar="A", help="The number of the older pass.")],
    newer: Annotated[int, typer.Argument(metavar="B", help="The number of the newer pass.")],
    name: Annotated[
        str | None, typer.Argument(metavar="[STREAM]", help="Only this stream.")
    ] = None,
    fields: Annotated[
        bool, typer.Option("--fields", help="Also show the values that differ.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Compare a mirror at the ends of two passes: added, changed, deleted and restored rows."""
    async with cli.service() as service:
        streams = await _compared(service.mirrors, PassPair(older, newer), name)
        shown = [
            await _StreamDiff(cli, service.mirrors, each, fields=fields, as_json=as_json).run(
                PassPair(older, newer)
            )
            for each in streams
        ]
    if as_json:
        cli.screen.json({"from_pass": older, "to_pass": newer, "streams": shown})


class _StreamDiff:
    def __init__(
        self,
        cli: CliContext,
        mirrors: MirrorVerbs,
        found: FoundStream,
        *,
        fields: bool,
        as_json: bool,
    ) -> None:
        self._screen = cli.screen
        self._mirrors = mirrors
        self._found = found
        self._fields = fields
        self._as_json = as_json
        self._counts: Counter[ChangeKind] = Counter()
        self._rows: list[dict[str, Any]] = []

    async def run(self, between: PassPair) -> dict[str, Any]:
        if not self._as_json:
            self._screen.line(self._found.stream.name, "bold")
        after: str | None = None
        while True:
            page = await self._mirrors.differences(self._found.place, between, PageOf(after, PAGE))
            for each in page.items:
                self._add(each)
            after = page.next
            if after is None:
                break
        counts = {str(kind): self._counts[kind] for kind in ChangeKind}
        if not self._as_json:
            told = ", ".join(f"{count:,} {kind}" for kind, count in counts.items() if count)
            self._screen.say(f"  {told or 'no difference'}")
        return {"stream": self._found.stream.name, **counts, "rows": self._rows}

    def _add(self, each: DifferenceView) -> None:
        self._counts[each.kind] += 1
        if self._as_json:
            self._rows.append(difference_json(each, fields=self._fields))
            return
        for line in difference_lines(each, fields=self._fields):
            self._screen.line(f"  {line}")


async def _compared(mirrors: MirrorVerbs, between: PassPair, name: str | None) -> list[FoundStream]:
    """The streams to compare."""
    if between.older >= between.newer:
        raise UsageError(
            f"pass {between.newer} did not begin after pass {between.older}: name the older first"
        )
    older, newer = [await mirrors.show(each) for each in between]
    if older.mirror_id != newer.mirror_id:
        raise UsageError(
            f"pass {older.id} is of {older.mirror} and pass {newer.id} of {newer.mirror}: compare"
            " two passes of one mirror"
        )
    mirror = await mirrors.get(int(older.mirror_id))
    streams = [FoundStream(mirror, each) for each in mirror.streams]
    if name is None:
        return streams
    found = [each for each in streams if name in {each.stream.name, each.name}]
    if not found:
        known = ", ".join(each.name for each in mirror.streams)
        raise UnknownMirror(f"mirror {mirror.name} has no stream {name!r}; it has {known}")
    return found


async def forget(
    cli: CliContext, name: MirrorName, dry_run: DryRun = False, yes: Yes = False
) -> None:
    """Remove a mirror with its rows and history; its jobs stay."""
    async with cli.service() as service:
        mirror = await find_mirror(service.mirrors, name)
        rows = counted(sum(each.live for each in mirror.streams), "live row")
        if dry_run:
            cli.screen.say(f"would remove mirror {mirror.name} with {rows}, and its history")
            return
        confirm(f"Remove mirror {mirror.name} with {rows}, and its history?", yes=yes)
        while not (await service.mirrors.forget(int(mirror.id))).done:
            pass
    cli.screen.say(f"removed mirror {mirror.name}")


EXAMPLES = {
    "ls": ["headgate extract ls", "headgate extract ls --json | jq '.mirrors[].name'"],
    "show": ["headgate extract show 5", "headgate extract show looker --json | jq .report"],
    "list": [
        "headgate extract list dashboards",
        "headgate extract list looker/dashboards --deleted --json",
        "headgate extract list dashboards --id 17",
    ],
    "schema": ["headgate extract schema dashboards"],
    "diff": ["headgate extract diff 5 6", "headgate extract diff 5 6 dashboards --fields"],
    "forget": ["headgate extract forget looker --dry-run", "headgate extract forget looker --yes"],
}


def register(app: typer.Typer) -> None:
    """Add these commands to a group."""
    commands: dict[str, Callable[..., Awaitable[None]]] = {
        "ls": ls,
        "show": show,
        "list": list_rows,
        "schema": schema,
        "diff": diff,
        "forget": forget,
    }
    for name, action in commands.items():
        command(app, name, EXAMPLES[name], far=True)(action)
