"""`headgate db`: migrate, check and back up the store."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from headgate.app import wiring
from headgate.app.cli.exit_codes import Exit
from headgate.app.cli.options import Json, Yes
from headgate.app.cli.runtime import CliContext, command, noun
from headgate.core.errors import UsageError

app = noun("db", "Migrate, check and back up the store.")


@command(app, "migrate", ["headgate db migrate", "headgate db migrate --db postgresql://me@db/hg"])
async def migrate(cli: CliContext, as_json: Json = False) -> None:
    """Update the schema of the store, also if it is too old to be opened."""
    applied = await wiring.open_store(cli.load().settings).migrate()
    if as_json:
        cli.screen.json({"applied": applied})
        return
    for name in applied:
        cli.screen.line(name)
    cli.screen.say(f"{len(applied)} migrations applied" if applied else "already up to date")


@command(app, "status", ["headgate db status", "headgate db status --json"])
async def status(cli: CliContext, as_json: Json = False) -> None:
    """Show the store's location, versions and size."""
    async with cli.store() as store:
        found = await store.reads.status()
    if as_json:
        cli.screen.json(found)
        return
    current = "current" if found.schema == found.latest_schema else f"of {found.latest_schema}"
    cli.screen.facts(
        {
            "store": found.kind,
            "location": found.location,
            "version": found.version,
            "schema": f"{found.schema} ({current})",
            "size": f"{found.size_bytes / 1_048_576:,.1f} MB",
            "jobs": f"{found.jobs:,}",
            "items": f"{found.items:,}",
        }
    )


@command(app, "check", ["headgate db check", "headgate db check --repair"])
async def check(
    cli: CliContext,
    repair: Annotated[bool, typer.Option("--repair", help="Repair what can be repaired.")] = False,
    as_json: Json = False,
) -> Exit:
    """Check the consistency of the store; exit 6 if there is a problem."""
    async with cli.store() as store:
        findings = await store.reads.check(repair=repair)
    left = [finding for finding in findings if not finding.repaired]
    if as_json:
        cli.screen.json({"clean": not left, "findings": msgspec.to_builtins(findings)})
    for finding in findings if not as_json else ():
        fate = "repaired" if finding.repaired else "repairable" if finding.repairable else "manual"
        cli.screen.line(f"{fate}: {finding.problem}")
    if not findings:
        cli.screen.say("no problems found")
    elif any(finding.repairable for finding in left):
        cli.screen.say("repair it: headgate db check --repair")
    return Exit.PROBLEMS if left else Exit.OK


@command(app, "backup", ["headgate db backup headgate-backup.db"])
async def backup(
    cli: CliContext,
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")],
    yes: Yes = False,
) -> None:
    """Write a consistent copy, also while workers run; `--yes` replaces an existing file."""
    if target.exists() and not yes:
        raise UsageError(f"{target} exists; add --yes to replace it")
    if not target.absolute().parent.is_dir():
        raise UsageError(f"the folder {target.absolute().parent} does not exist")
    unfinished = target.with_name(f".{target.name}.part")
    unfinished.unlink(missing_ok=True)
    async with cli.store() as store:
        try:
            await store.backup(str(unfinished))
        except UsageError as error:  # name the file that the user gave, not the temporary one
            raise UsageError(str(error).replace(str(unfinished), str(target))) from error
    unfinished.replace(target)
    cli.screen.say(f"wrote {target}; use it with --db {target}")
