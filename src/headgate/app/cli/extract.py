"""`headgate extract`: mirror a paginated API."""

from typing import Annotated, Any

import typer

from headgate.app.cli.exit_codes import Exit
from headgate.app.cli.extract_check import check_source, show_forecast
from headgate.app.cli.extract_run import PassOptions, PassRun
from headgate.app.cli.help_page import HelpGroup
from headgate.app.cli.options import Json, option
from headgate.app.cli.run_options import EndJson, MaxStall, Priority
from headgate.app.cli.runtime import CliContext, command, noun
from headgate.app.cli.worker import WORK
from headgate.app.extract.opening import SourceChanges, open_source
from headgate.app.settings import Flag
from headgate.core.errors import UsageError
from headgate.engine.passes import PassOrder
from headgate.ports.mirrors import PassWish

ABOUT = "Mirror a paginated API: every row of it, kept, compared and proven complete."
RUN = "run"
WHICH = "Which rows"
MOST_WORKERS = 50


class SourceGroup(HelpGroup):
    """A word that is not a command is a source: `extract looker` is `extract run looker`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in self.commands:
            args = [RUN, *args]
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0].startswith("-") and not self._is_shared(ctx, args[0]):
            args = [RUN, *args]
        return super().parse_args(ctx, args)

    def _is_shared(self, ctx: Any, word: str) -> bool:
        name = word.partition("=")[0]
        return any(name in each.opts for each in self.get_params(ctx))


app = noun("extract", ABOUT, SourceGroup)
EXAMPLES = [
    "headgate extract source.toml",
    "headgate extract looker dashboards looks --workers 8 --rate 100/min",
    "headgate extract github --set owner=… --set repo=… --full",
    "headgate extract source.toml --dry-run",
]
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
Values = Annotated[
    list[str] | None,
    option(
        "--set",
        panel=WHICH,
        metavar="NAME=VALUE",
        about="The value of {NAME} in the source; may be repeated.",
    ),
]


@command(app, RUN, EXAMPLES)
async def run(
    cli: CliContext,
    *,
    source: Source,
    streams: Streams = None,
    full: Annotated[
        bool, option("--full", panel=WHICH, about="List every row, not only what has changed.")
    ] = False,
    since: Annotated[
        str | None,
        option(
            "--since",
            panel=WHICH,
            metavar="STAMP",
            about="List what has changed since this stamp of the source.",
        ),
    ] = None,
    new: Annotated[
        bool,
        option("--new", panel=WHICH, about="Give up an interrupted pass instead of resuming it."),
    ] = False,
    dry_run: Annotated[
        bool,
        option(
            "--dry-run",
            panel=WHICH,
            about="Show what a pass would need: ask for one page of each stream, store no row.",
        ),
    ] = False,
    values: Values = None,
    workers: Annotated[
        int,
        typer.Option(
            "--workers",
            metavar="N",
            min=1,
            max=MOST_WORKERS,
            help="Pages that are fetched at the same time.",
            rich_help_panel=WORK,
        ),
    ] = 8,
    batch_size: Annotated[
        int | None,
        typer.Option(
            "--batch-size",
            metavar="N",
            min=10,
            max=1_000,
            help="Rows of a page; default: as the source says.",
            rich_help_panel=WORK,
        ),
    ] = None,
    rate: Annotated[
        str | None,
        option(
            "--rate",
            panel=WORK,
            metavar="RATE",
            about="Most requests: 10/s, 100/min, or both; default: as the source says.",
        ),
    ] = None,
    priority: Priority = 0,
    max_stall: MaxStall = 3_600.0,
    accept_unproven: Annotated[
        bool,
        option(
            "--accept-unproven",
            panel="When and how to end",
            about="Exit with 0 although a stream is not proven complete.",
        ),
    ] = False,
    as_json: EndJson = False,
) -> Exit:
    """Mirror SOURCE; run it again to resume, and later to fetch what has changed."""
    if full and since is not None:
        raise UsageError("--full lists everything and --since does not: leave out one")
    settings = cli.load(Flag("worker.concurrency", "--workers", workers)).settings
    opened = open_source(source, SourceChanges(values_in(values), rate, batch_size))
    wish = PassWish(tuple(streams or ()), full, since)
    opened.for_pass.plan({}, wish)  # a stream that does not exist is refused before anything else
    order = PassOrder(wish, new=new, priority=priority)
    if dry_run:
        return await show_forecast(cli, settings, opened, order, as_json=as_json)
    options = PassOptions(max_stall, accept_unproven, as_json)
    async with cli.store(settings, create=True) as store:
        return await PassRun(cli, settings, store, options).go(opened, order)


@command(
    app,
    "check",
    ["headgate extract check source.toml", "headgate extract check looker --json"],
)
async def check(
    cli: CliContext,
    *,
    source: Source,
    streams: Streams = None,
    values: Values = None,
    as_json: Json = False,
) -> Exit:
    """Log in to SOURCE and ask for one page of each stream; exit 6 if one cannot be listed."""
    settings = cli.load().settings
    opened = open_source(source, SourceChanges(values_in(values)))
    wish = PassWish(tuple(streams or ()), full=True)
    return await check_source(cli, settings, opened, PassOrder(wish), as_json=as_json)


def values_in(given: list[str] | None) -> dict[str, str]:
    """The values of `--set`; later ones win."""
    found = {}
    for each in given or ():
        name, equals, value = each.partition("=")
        if not equals or not name:
            raise UsageError(f"--set {each!r}: write NAME=VALUE")
        found[name] = value
    return found
