"""`headgate config`: the settings and where each was set."""

from typing import Annotated, Any

import msgspec
import typer

from headgate.app.cli.options import Json
from headgate.app.cli.runtime import CliContext, command, noun
from headgate.app.settings import LEAVES, value_of
from headgate.core.redact_values import without_secrets

app = noun("config", "Show the settings.")


@command(
    app,
    "show",
    [
        "headgate config show --origin",
        "HEADGATE_RETRY__MAX_ATTEMPTS_ERROR=5 headgate config show --json",
    ],
)
async def show(
    cli: CliContext,
    origin: Annotated[bool, typer.Option("--origin", help="Say where each value was set.")] = False,
    as_json: Json = False,
) -> None:
    """Show every setting; passwords are hidden."""
    loaded = cli.load()
    values = {path: _without_secrets(value_of(loaded.settings, path)) for path in LEAVES}
    if as_json:
        origins = {path: str(loaded.origins[path]) for path in LEAVES}
        both = {path: {"value": values[path], "origin": origins[path]} for path in LEAVES}
        cli.screen.json(both if origin else values)
        return
    columns = ("SETTING", "VALUE", "ORIGIN") if origin else ("SETTING", "VALUE")
    cli.screen.table(
        columns,
        [
            (path, _text(value), str(loaded.origins[path]))[: len(columns)]
            for path, value in values.items()
        ],
    )


def _without_secrets(value: Any) -> Any:
    return without_secrets(value) if isinstance(value, str) else value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
