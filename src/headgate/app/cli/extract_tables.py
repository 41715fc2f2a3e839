"""Exports a mirror as one file with a typed table for each stream."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from headgate.app.cli.runtime import CliContext
from headgate.core.words import counted
from headgate.engine.mirror_tables import MirrorTables, TablesReport
from headgate.ports.mirrors import Mirror, Stream
from headgate.ports.store import Store
from headgate.transfer.tables.registry import open_tables


async def write_tables(
    store: Store, mirror: Mirror, streams: Sequence[Stream], out: Path, *, deleted: bool
) -> TablesReport:
    """Write these streams into the database file; it appears when it is complete."""
    work = MirrorTables(store.mirrors, deleted=deleted)
    return await work.run(mirror, streams, open_tables(out))


def print_tables(cli: CliContext, out: Path, report: TablesReport, *, as_json: bool) -> None:
    if as_json:
        cli.screen.json({"file": str(out), **msgspec.to_builtins(report)})
        return
    rows = counted(sum(report.rows.values()), "row")
    cli.screen.say(f"wrote {out} ({counted(len(report.rows), 'table')}, {rows})")
    for note in report.notes:
        cli.screen.warn(note)
