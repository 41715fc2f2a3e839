"""`headgate providers`: the limits of outside services, seen and steered."""

from collections.abc import Mapping
from typing import Annotated

import typer

from headgate.app.cli.desk import Desk, command, noun
from headgate.app.cli.gate_shapes import gate_shape, override_in_words, show_gate, show_gates
from headgate.app.cli.options import DryRun, Json, Yes, confirm, seconds_in
from headgate.app.cli.slowed import configured
from headgate.app.providers import SECTION
from headgate.app.settings import Loaded
from headgate.core.errors import UsageError
from headgate.core.gate_key import find_gates, keys_of_provider
from headgate.core.gate_view import GateView
from headgate.core.provider import ProviderPolicy
from headgate.core.rate import parse_limits
from headgate.engine.gate_reading import GateReading, read_gates
from headgate.engine.gate_steering import GateSteering
from headgate.engine.why import in_figures
from headgate.ports.limits import LimitLedger

app = noun("providers", "See what was learned of outside services, and overrule it.")

Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="A provider, PROVIDER/CREDENTIAL, a host, or a gate's full key."
    ),
]
For = Annotated[
    str | None,
    typer.Option("--for", metavar="TIME", help="How long: 90s, 30m, 2h, 1d. Else until resumed."),
]


@command(app, "ls", ["headgate providers ls", "headgate providers ls --all --json | jq '.gates'"])
async def ls(
    desk: Desk,
    everything: Annotated[
        bool, typer.Option("--all", help="Also shipped providers that were never asked.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List gates: what is configured, what was learned, what goes out now, and why."""
    loaded = desk.load()
    declared = loaded.settings.providers if everything else _declared(loaded)
    async with desk.store(loaded.settings) as store:
        used = [entry.key for entry in await store.limits.entries()]
        named = [key for name in declared for key in keys_of_provider(name, declared[name])]
        keys = list(dict.fromkeys([*used, *named]))
        reading = await read_gates(store.limits, configured(loaded.settings), keys)
    if as_json:
        desk.screen.json({"gates": [gate_shape(view) for view in reading.views]})
        return
    if not keys:
        desk.screen.say(
            "nothing was asked through `ctx.http` yet, and no provider is declared:"
            " `headgate providers ls --all` shows those that are shipped"
        )
        return
    show_gates(desk.screen, reading)


@command(
    app,
    "show",
    ["headgate providers show wikidata", "headgate providers show wikidata --json | jq '.gates[]'"],
)
async def show(desk: Desk, name: Name, as_json: Json = False) -> None:
    """Show a gate with its evidence: what was observed when, and what was decided."""
    loaded = desk.load()
    async with desk.store(loaded.settings) as store:
        keys = await _meant(store.limits, name, loaded.settings.providers)
        reading = await read_gates(store.limits, configured(loaded.settings), keys)
    if as_json:
        desk.screen.json({"gates": [gate_shape(view) for view in reading.views]})
        return
    for number, view in enumerate(reading.views):
        if number:
            desk.screen.line("")
        show_gate(desk.screen, view, reading.now_s)
    if not any(view.asked for view in reading.views):
        desk.screen.say("what is learned appears here once a handler has asked through `ctx.http`")


@command(
    app,
    "set",
    [
        "headgate providers set wikidata --rate 5/s",
        "headgate providers set wikidata --rate 100/min --for 2h",
    ],
)
async def set_rate(
    desk: Desk,
    *,
    name: Name,
    rate: Annotated[
        str, typer.Option("--rate", metavar="RATE", help="The rate: 5/s, 100/min, 1/3s.")
    ],
    for_time: For = None,
    as_json: Json = False,
) -> None:
    """Overrule what was learned and what is configured: every process obeys at once."""
    per_s, for_s = _per_s(rate), seconds_in(for_time, "--for")
    loaded = desk.load()
    providers = loaded.settings.providers
    async with desk.store(loaded.settings, create=True) as store:
        keys = await _meant(store.limits, name, providers)
        await GateSteering(store, configured(loaded.settings)).set_rate(keys, per_s, for_s)
        reading = await read_gates(store.limits, configured(loaded.settings), keys)
    _tell(desk, reading, name, as_json=as_json)


@command(
    app,
    "pause",
    ["headgate providers pause wikidata", "headgate providers pause wikidata --for 30m"],
)
async def pause(desk: Desk, name: Name, for_time: For = None, as_json: Json = False) -> None:
    """Send nothing more to a provider; work that needs others goes on."""
    for_s = seconds_in(for_time, "--for")
    loaded = desk.load()
    providers = loaded.settings.providers
    async with desk.store(loaded.settings, create=True) as store:
        keys = await _meant(store.limits, name, providers)
        await GateSteering(store, configured(loaded.settings)).pause(keys, for_s)
        reading = await read_gates(store.limits, configured(loaded.settings), keys)
    _tell(desk, reading, name, as_json=as_json)


@command(app, "resume", ["headgate providers resume wikidata"])
async def resume(desk: Desk, name: Name, as_json: Json = False) -> None:
    """Take back `set` and `pause`: go on at the rate that was learned."""
    loaded = desk.load()
    providers = loaded.settings.providers
    async with desk.store(loaded.settings) as store:
        keys = await _meant(store.limits, name, providers)
        resumed = await GateSteering(store, configured(loaded.settings)).resume(keys)
        reading = await read_gates(store.limits, configured(loaded.settings), keys)
    if as_json:
        desk.screen.json({"resumed": resumed, "gates": [gate_shape(v) for v in reading.views]})
        return
    if not resumed:
        desk.screen.say(f"nobody had set or paused {name}: nothing was changed")
    for view in reading.views:
        if view.key in resumed:
            learned = f"at most {in_figures(view.now_per_s)}" if view.now_per_s else "closed"
            desk.screen.say(f"{view.name} goes on as learned: {learned}")


@command(
    app,
    "forget",
    ["headgate providers forget wikidata --dry-run", "headgate providers forget wikidata --yes"],
)
async def forget(
    desk: Desk, name: Name, dry_run: DryRun = False, yes: Yes = False, as_json: Json = False
) -> None:
    """Drop all that was learned of a provider's limit, and begin to look for it anew."""
    loaded = desk.load()
    async with desk.store(loaded.settings) as store:
        meant = await _meant(store.limits, name, loaded.settings.providers)
        known = {entry.key for entry in await store.limits.entries()}
        keys = [key for key in meant if key in known]
        if keys and not dry_run:
            confirm(f"Forget what was learned of {', '.join(keys)}?", yes=yes)
        dropped = (
            [] if dry_run else await GateSteering(store, configured(loaded.settings)).forget(keys)
        )
    if as_json:
        desk.screen.json({"found": keys, "forgotten": dropped})
    elif not keys:
        desk.screen.say(f"nothing was learned of {name} yet")
    else:
        verb = "would forget" if dry_run else "forgot"
        desk.screen.say(f"{verb} what was learned of {', '.join(keys)}")


def _declared(loaded: Loaded) -> Mapping[str, ProviderPolicy]:
    """The providers that the user's own settings name."""
    paths = (path.removeprefix(SECTION) for path in loaded.origins if path.startswith(SECTION))
    names = dict.fromkeys(path.partition(".")[0] for path in paths)
    return {name: loaded.settings.providers[name] for name in names}


async def _meant(
    ledger: LimitLedger, name: str, providers: Mapping[str, ProviderPolicy]
) -> list[str]:
    known = [entry.key for entry in await ledger.entries()]
    return find_gates(name, known, providers)


def _per_s(text: str) -> float:
    """The tightest of the limits in a text, evenly spread."""
    try:
        limits = parse_limits(text)
    except ValueError as error:
        raise UsageError(f"--rate {error}") from error
    if not limits:
        raise UsageError("--rate is empty: write it as 5/s, 100/min, 2000/day or 1/3s")
    return min(limit.count / limit.seconds for limit in limits)


def _tell(desk: Desk, reading: GateReading, name: str, *, as_json: bool) -> None:
    """Say what holds now, and how to take it back."""
    if as_json:
        desk.screen.json({"gates": [gate_shape(view) for view in reading.views]})
        return
    for view in reading.views:
        desk.screen.say(_holds(view, reading.now_s))
    desk.screen.say(f"take it back with: headgate providers resume {name}")


def _holds(view: GateView, now_s: float) -> str:
    word = override_in_words(view.override, now_s) if view.override else "as learned"
    return f"{view.name} is {word}"
