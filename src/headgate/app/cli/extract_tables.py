"""Exports a mirror as one file with a typed table for each stream."""

from pathlib import Path

import msgspec

from headgate.app.cli.exit_codes import Exit
from headgate.app.cli.runtime import CliContext
from headgate.app.extract.mirror_choice import chosen_mirror
from headgate.app.output_check import require_output
from headgate.core.errors import UsageError
from headgate.core.words import counted
from headgate.engine.mirror_tables import MirrorTables, TablesReport
from headgate.ports.mirrors import Mirror, Stream
from headgate.ports.store import Store
from headgate.transfer.tables.registry import open_tables


class TablesOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What to write into the file."""

    name: str
    """`STREAM` or `MIRROR/STREAM`; with `every` the mirror."""
    out: Path
    every: bool
    deleted: bool


async def export_tables(cli: CliContext, order: TablesOrder, *, as_json: bool) -> Exit:
    """Write one stream or all of them into one database file; it appears when it is complete."""
    cli.require_local()
    require_output(order.out, [], "--out")
    async with cli.store() as store:
        mirror, streams = await _chosen(store, order)
        work = MirrorTables(store.mirrors, deleted=order.deleted)
        report = await work.run(mirror, streams, open_tables(order.out))
    _print(cli, order.out, report, as_json=as_json)
    return Exit.OK


async def _chosen(store: Store, order: TablesOrder) -> tuple[Mirror, list[Stream]]:
    if order.every:
        mirror = await chosen_mirror(store, order.name)
        return mirror, await store.mirrors.streams(mirror.id)
    named, _, stream = order.name.rpartition("/")
    mirror = await chosen_mirror(store, named or None)
    streams = await store.mirrors.streams(mirror.id)
    found = [each for each in streams if each.name == stream]
    if not found:
        known = ", ".join(each.name for each in streams)
        raise UsageError(f"{mirror.name} has no stream {stream!r}; it has {known}")
    return mirror, found


def _print(cli: CliContext, out: Path, report: TablesReport, *, as_json: bool) -> None:
    if as_json:
        cli.screen.json({"file": str(out), **msgspec.to_builtins(report)})
        return
    rows = counted(sum(report.rows.values()), "row")
    cli.screen.say(f"wrote {out} ({counted(len(report.rows), 'table')}, {rows})")
    for note in report.notes:
        cli.screen.warn(note)
