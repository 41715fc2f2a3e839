"""`headgate extract`: mirror a paginated API."""

from typing import Any

from headgate.app.cli import (
    extract_detect,
    extract_import,
    extract_mirror,
    extract_reads,
    extract_tap,
)
from headgate.app.cli.exit_codes import Exit
from headgate.app.cli.extract_check import check_source, show_forecast
from headgate.app.cli.extract_options import (
    AcceptUnproven,
    BatchSize,
    Forecast,
    Full,
    New,
    Rate,
    Since,
    Source,
    Streams,
    Values,
    Workers,
    values_in,
)
from headgate.app.cli.extract_reads import PassName
from headgate.app.cli.extract_run import PassOptions, PassRun
from headgate.app.cli.help_page import HelpGroup
from headgate.app.cli.mirror_choice import find_pass
from headgate.app.cli.options import DryRun, Json, Yes, confirm
from headgate.app.cli.run_options import EndJson, MaxStall, Priority
from headgate.app.cli.runtime import CliContext, command, noun
from headgate.app.extract.opening import SourceChanges, open_source
from headgate.app.settings import Flag
from headgate.core.errors import UsageError
from headgate.core.status import UNFINISHED
from headgate.core.words import counted
from headgate.engine.passes import PassOrder
from headgate.ports.mirrors import PassWish

RUN = "run"


class SourceGroup(HelpGroup):
    """A word that is not a command is a source: `extract looker` is `extract run looker`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in self.commands:
            args = [RUN, *args]
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        place = self._after_shared(ctx, args)
        if place < len(args) and args[place].startswith("-"):  # an option of `run`
            args = [*args[:place], RUN, *args[place:]]
        return super().parse_args(ctx, args)

    def _after_shared(self, ctx: Any, args: list[str]) -> int:
        """The place of the first word that is not an option of every command."""
        shared = {name: each for each in self.get_params(ctx) for name in each.opts}
        place = 0
        while place < len(args) and (found := shared.get(args[place].partition("=")[0])):
            alone = "=" in args[place] or getattr(found, "is_flag", False)
            place += 1 if alone else 2
        return place


app = noun(
    "extract",
    "Mirror a paginated API; `extract SOURCE` is short for `extract run SOURCE`.",
    SourceGroup,
)


@command(
    app,
    RUN,
    [
        "headgate extract run source.toml",
        "headgate extract looker dashboards looks --workers 8 --rate 100/min",
        "headgate extract github --set owner=me --set repo=mine --full",
        "headgate extract source.toml --dry-run",
    ],
)
async def run(
    cli: CliContext,
    *,
    source: Source,
    streams: Streams = None,
    full: Full = False,
    since: Since = None,
    new: New = False,
    dry_run: Forecast = False,
    values: Values = None,
    workers: Workers = 8,
    batch_size: BatchSize = None,
    rate: Rate = None,
    priority: Priority = 0,
    max_stall: MaxStall = 3_600.0,
    accept_unproven: AcceptUnproven = False,
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
    app, "check", ["headgate extract check source.toml", "headgate extract check looker --json"]
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


command(app, "verify", ["headgate extract verify", "headgate extract verify looker --remote"])(
    extract_mirror.verify
)
command(
    app,
    "export",
    [
        "headgate extract export dashboards --out dashboards.xlsx",
        "headgate extract export dashboards --deleted --out - | head",
        "headgate extract export looker --all --format parquet --out looker/",
        "headgate extract export looker --all --out looker.sqlite",
    ],
    far=True,
)(extract_mirror.export)
command(
    app,
    "tap",
    [
        "headgate extract tap looker | target-jsonl",
        "headgate extract tap looker --state state.json | target-jsonl",
    ],
)(extract_tap.tap)
command(
    app,
    "detect",
    [
        "headgate extract detect 'https://api.example.org/v1/orders?page=1' --out shop.toml",
        "headgate extract detect https://api.example.org/v1/orders --token-env SHOP_TOKEN",
    ],
)(extract_detect.detect)
command(
    app,
    "import",
    [
        "headgate extract import airbyte manifest.yaml --out source.toml",
        "headgate extract import dlt config.json --out source.toml",
    ],
)(extract_import.import_source)


@command(app, "pause", ["headgate extract pause 3", "headgate extract pause looker"], far=True)
async def pause(cli: CliContext, name: PassName) -> None:
    """Stop new work on a pass, on all workers, until it is resumed."""
    async with cli.service() as service:
        found = await find_pass(service.mirrors, name)
        job = await service.jobs.pause(int(found.id))
    cli.screen.say(f"pass {job.id} is {job.state}; continue with: headgate extract resume {job.id}")


@command(app, "resume", ["headgate extract resume 3", "headgate extract resume looker"], far=True)
async def resume(cli: CliContext, name: PassName) -> None:
    """Let workers go on with a paused pass."""
    async with cli.service() as service:
        found = await find_pass(service.mirrors, name)
        job = await service.jobs.resume(int(found.id))
        is_at_work = await service.is_at_work((int(found.id),))
    cli.screen.say(f"pass {job.id} is {job.state}")
    if not is_at_work:
        cli.screen.say("no worker is at it: run the same `headgate extract` again")


@command(
    app,
    "cancel",
    ["headgate extract cancel 3 --dry-run", "headgate extract cancel looker --yes"],
    far=True,
)
async def cancel(
    cli: CliContext, name: PassName, dry_run: DryRun = False, yes: Yes = False
) -> None:
    """End a pass; rows that it has fetched are kept, and nothing is deleted."""
    async with cli.service() as service:
        job = await service.jobs.get(int((await find_pass(service.mirrors, name)).id))
        left = counted(job.counts.open, "open page")
        if dry_run:
            cli.screen.say(f"would cancel pass {job.id} ({job.state}) and its {left}")
            return
        if job.state in UNFINISHED:
            confirm(f"Cancel pass {job.id} and its {left}?", yes=yes)
        job = await service.jobs.cancel(int(job.id))
    cli.screen.say(f"pass {job.id} is {job.state}; the rows that it has fetched are kept")


extract_reads.register(app)
