"""The options of `headgate extract`."""

from typing import Annotated

import typer

from headgate.app.cli.options import option
from headgate.app.cli.run_options import END
from headgate.app.cli.worker import WORK
from headgate.core.errors import UsageError

WHICH = "Which rows"
MOST_WORKERS = 50

Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE", help="A file that ends in .toml, or the name of a shipped source."
    ),
]
Streams = Annotated[
    list[str] | None,
    typer.Argument(metavar="[STREAM]…", help="Only these streams, and those they need."),
]
Full = Annotated[
    bool, option("--full", panel=WHICH, about="List every row, not only what has changed.")
]
Since = Annotated[
    str | None,
    option(
        "--since",
        panel=WHICH,
        metavar="STAMP",
        about="List what has changed since this stamp of the source.",
    ),
]
New = Annotated[
    bool, option("--new", panel=WHICH, about="Give up an interrupted pass instead of resuming it.")
]
Forecast = Annotated[
    bool,
    option(
        "--dry-run",
        panel=WHICH,
        about="Show what a pass would need: ask for one page of each stream, store no row.",
    ),
]
Values = Annotated[
    list[str] | None,
    option(
        "--set",
        panel=WHICH,
        metavar="NAME=VALUE",
        about="The value of {NAME} in the source; may be repeated.",
    ),
]
Workers = Annotated[
    int,
    typer.Option(
        "--workers",
        metavar="N",
        min=1,
        max=MOST_WORKERS,
        help="Pages that are fetched at the same time.",
        rich_help_panel=WORK,
    ),
]
BatchSize = Annotated[
    int | None,
    typer.Option(
        "--batch-size",
        metavar="N",
        min=10,
        max=1_000,
        help="Rows of a page; default: as the source says.",
        rich_help_panel=WORK,
    ),
]
Rate = Annotated[
    str | None,
    option(
        "--rate",
        panel=WORK,
        metavar="RATE",
        about="Most requests: 10/s, 100/min, or both; default: as the source says.",
    ),
]
AcceptUnproven = Annotated[
    bool,
    option(
        "--accept-unproven",
        panel=END,
        about="Exit with 0 although a stream is not proven complete.",
    ),
]


def values_in(given: list[str] | None) -> dict[str, str]:
    """The values of `--set`; later ones win."""
    found = {}
    for each in given or ():
        name, equals, value = each.partition("=")
        if not equals or not name:
            raise UsageError(f"--set {each!r}: write NAME=VALUE")
        found[name] = value
    return found
