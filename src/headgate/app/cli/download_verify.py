"""`headgate download verify`: compare the files of a folder with its manifest."""

import asyncio
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from headgate.app.cli.exit_codes import Exit
from headgate.app.cli.options import Json
from headgate.app.cli.render.times import volume
from headgate.app.cli.runtime import CliContext, command
from headgate.core.errors import UsageError
from headgate.transfer.artifacts.checking import Discrepancy, FileDifference, FolderCheck

MOST_IN_JSON = 10_000
WORDS = {
    Discrepancy.MISSING: "missing",
    Discrepancy.SIZE: "wrong size",
    Discrepancy.CONTENT: "wrong content",
    Discrepancy.BAD_LINE: "bad line",
    Discrepancy.UNREADABLE: "unreadable",
    Discrepancy.EXTRA: "not listed",
}


async def verify(
    cli: CliContext,
    *,
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder that files were downloaded into.")
    ],
    as_json: Json = False,
) -> Exit:
    """Compare every file in DIR with its entry in manifest.jsonl; exit 6 if one differs."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder")
    check = FolderCheck(folder)
    findings = Findings()
    differences = check.run()
    while (found := await asyncio.to_thread(next, differences, None)) is not None:
        findings.add(found)
        if not as_json:
            cli.screen.line(difference_line(found))
    if as_json:
        cli.screen.json({"files": check.files, "bytes": check.bytes, **findings.shape()})
    _sum_up(cli, check, findings)
    return Exit.PROBLEMS if findings.wrong else Exit.OK


class Findings:
    def __init__(self) -> None:
        self.wrong = 0
        self.extra = 0
        self._first: list[FileDifference] = []

    def add(self, found: FileDifference) -> None:
        """Count one difference. A file that is not in the manifest is not an error."""
        if found.kind is Discrepancy.EXTRA:
            self.extra += 1
        else:
            self.wrong += 1
        if len(self._first) < MOST_IN_JSON:
            self._first.append(found)

    def shape(self) -> dict[str, Any]:
        return {
            "clean": not self.wrong,
            "wrong": self.wrong,
            "not_listed": self.extra,
            "differences": [msgspec.to_builtins(each) for each in self._first],
        }


def difference_line(found: FileDifference) -> str:
    facts = "; ".join(part for part in (found.detail, found.id) if part)
    return f"{WORDS[found.kind]:<13}  {found.path}" + (f"  ({facts})" if facts else "")


def _sum_up(cli: CliContext, check: FolderCheck, findings: Findings) -> None:
    compared = "entry" if check.files == 1 else "entries"
    size = f"compared {check.files:,} {compared} with {volume(check.bytes)}"
    if findings.wrong:
        files = "file is" if findings.wrong == 1 else "files are"
        cli.screen.say(f"{size}: {findings.wrong:,} {files} not as the manifest says", "bold")
        cli.screen.say(
            "run the same download again to get files that are missing or have another size"
        )
    else:
        cli.screen.say(f"{size}: every file is as the manifest says", "bold")
    if findings.extra:
        files = "file is" if findings.extra == 1 else "files are"
        cli.screen.say(f"{findings.extra:,} {files} not in the manifest")


def register(app: typer.Typer) -> None:
    examples = ["headgate download verify papers/", "headgate download verify papers/ --json"]
    command(app, "download verify", examples)(verify)
