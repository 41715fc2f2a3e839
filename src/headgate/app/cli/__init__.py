"""The command line: one module per noun. Data goes to stdout, messages go to stderr."""

import inspect
import sys
from pathlib import Path
from typing import Annotated

import typer

from headgate import __version__
from headgate.app.cli.commands import LazyGroup
from headgate.app.cli.exit_codes import Exit
from headgate.app.cli.runtime import shared_callback
from headgate.app.telemetry import catch_strays
from headgate.handlers.search_path import add_folder

ABOUT = (
    "Push a very large batch through rate-limited services: "
    "as fast as they allow, without losing or repeating work."
)
EXITS = (
    "Exit codes: 0 success, 2 wrong usage, 3 finished with failed items, "
    "4 stopped early and resumable, 5 store unreachable, 6 problems found, 141 output closed."
)
EPILOG = f"""Start here:

  $ headgate run lookup.py:price products.csv --out priced.csv

  $ headgate download dois.csv --out papers/

  $ headgate jobs ls

  $ headgate doctor

{EXITS}"""


def _print_version(wanted: bool) -> None:  # Typer passes the value by position
    if wanted:
        typer.echo(f"headgate {__version__}")
        raise typer.Exit


VERSION = inspect.Parameter(
    "version",
    inspect.Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ],
)

app = typer.Typer(
    name="headgate",
    help=ABOUT,
    cls=LazyGroup,
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.callback(epilog=EPILOG)(shared_callback(ABOUT, VERSION))


def main() -> None:
    # As with `python -m`, handlers named by module are found from the current folder.
    add_folder(Path.cwd())
    catch_strays()
    stdout = sys.stdout
    try:
        app()
    except SystemExit as end:
        # If the reader of a help page closes the pipe, Click wraps the stream and exits with 1.
        if end.code == Exit.INTERNAL and sys.stdout is not stdout:
            raise SystemExit(int(Exit.BROKEN_PIPE)) from None
        raise
