"""`headgate doctor`: checks of Python, the machine, the settings and the store."""

from functools import partial
from typing import Annotated

import typer

from headgate.app.cli.exit_codes import Exit
from headgate.app.cli.options import Json
from headgate.app.cli.runtime import CliContext, command
from headgate.app.doctor import CheckResult, Grade, handler_check, machine_checks, store_checks
from headgate.core.errors import BadSetting
from headgate.handlers.registry import resolve


async def doctor(
    cli: CliContext,
    handler: Annotated[
        str | None,
        typer.Option("--handler", metavar="H", help="Also check that this handler can be loaded."),
    ] = None,
    as_json: Json = False,
) -> Exit:
    """Check Python, the machine, the store and its workers; exit 6 if there is a problem."""
    lines = await _lines(cli, handler)
    if as_json:
        cli.screen.json({"ok": not _problems(lines), "checks": lines})
    else:
        for line in lines:
            cli.screen.line(
                f"{line.grade:8} {line.what:11} {line.found}",
                {Grade.WARN: "yellow", Grade.PROBLEM: "red"}.get(line.grade, ""),
            )
            if line.advice:
                cli.screen.line(f"{'':20} {line.advice}", "dim")
    return Exit.PROBLEMS if _problems(lines) else Exit.OK


async def _lines(cli: CliContext, handler: str | None) -> list[CheckResult]:
    try:
        settings = cli.load().settings
        lines = list(machine_checks(settings))
    except BadSetting as error:
        return [
            CheckResult(
                Grade.PROBLEM, "settings", str(error), "fix it and run `headgate doctor` again"
            )
        ]
    lines += [line async for line in store_checks(settings, cli.clock)]
    if handler is not None:
        lines.append(handler_check(partial(resolve, references=settings.handlers), handler))
    return lines


def _problems(lines: list[CheckResult]) -> list[CheckResult]:
    return [line for line in lines if line.grade is Grade.PROBLEM]


def register(app: typer.Typer) -> None:
    command(app, "doctor", ["headgate doctor", "headgate doctor --handler lookup.py:price"])(doctor)
