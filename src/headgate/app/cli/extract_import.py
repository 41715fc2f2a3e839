"""`headgate extract import`: turn a description of another tool into a source."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from headgate.app.cli.exit_codes import Exit
from headgate.app.cli.options import Json
from headgate.app.cli.runtime import CliContext
from headgate.app.extract.source_file import write_source
from headgate.core.errors import UsageError
from headgate.core.words import counted
from headgate.handlers.extract.importing import (
    ImportedSource,
    import_airbyte,
    import_dlt,
    read_config,
    read_manifest,
)


class Tool(StrEnum):
    AIRBYTE = "airbyte"
    DLT = "dlt"


From = Annotated[Tool, typer.Argument(metavar="airbyte|dlt", help="The tool that FILE is for.")]
Given = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="A manifest of Airbyte (YAML), or a REST configuration of dlt as JSON."
    ),
]
Out = Annotated[
    Path, typer.Option("--out", "-o", metavar="FILE", help="The source to write; it ends in .toml.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace FILE if it exists.")]


async def import_source(
    cli: CliContext,
    *,
    tool: From,
    file: Given,
    out: Out,
    force: Force = False,
    as_json: Json = False,
) -> Exit:
    """Write a source from a description of another tool; name the streams that are left out."""
    name = out.stem
    if tool is Tool.AIRBYTE:
        found = import_airbyte(read_manifest(file), name)
    else:
        found = import_dlt(read_config(file), name)
    if not found.tree:
        reasons = "; ".join(f"{each.stream}: {each.reason}" for each in found.left_out[:5])
        raise UsageError(f"{file}: no stream can be converted ({reasons}); nothing was written")
    comments = [f"Converted from {file.name}, a description for {tool}.", *found.notes]
    comments += [f"Left out: {each.stream}: {each.reason}" for each in found.left_out]
    write_source(out, found.tree, comments, force=force)
    _print(cli, out, found, as_json=as_json)
    return Exit.PROBLEMS if found.left_out else Exit.OK


def _print(cli: CliContext, out: Path, found: ImportedSource, *, as_json: bool) -> None:
    streams = [each if isinstance(each, str) else each["name"] for each in found.tree["resources"]]
    if as_json:
        left = [msgspec.to_builtins(each) for each in found.left_out]
        cli.screen.json(
            {"file": str(out), "streams": streams, "left_out": left, "notes": list(found.notes)}
        )
        return
    if found.left_out:
        cli.screen.table(
            ("LEFT OUT", "WHY"), [(each.stream, each.reason) for each in found.left_out]
        )
    for note in found.notes:
        cli.screen.warn(note)
    cli.screen.say(f"wrote {out} ({counted(len(streams), 'stream')}); try it with:")
    cli.screen.say(f"  headgate extract check {out}")
