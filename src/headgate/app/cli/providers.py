"""`headgate providers`: the limits of outside services, learned and overridden."""

from typing import Annotated

import typer

from headgate.app.cli.options import DryRun, Json, Yes, confirm, seconds_in
from headgate.app.cli.render.gates import gate_json, override_in_words, show_gate, show_gates
from headgate.app.cli.runtime import CliContext, command, noun
from headgate.core.gates.wait import rate_text
from headgate.schema.gates import Gate, GateList

app = noun("providers", "See the learned limits of outside services, and override them.")

Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="A provider, PROVIDER/CREDENTIAL, a host, or a gate's full key."
    ),
]
For = Annotated[
    str | None,
    typer.Option(
        "--for", metavar="TIME", help="How long: 90s, 30m, 2h, 1d. Default: until resumed."
    ),
]


@command(
    app,
    "ls",
    ["headgate providers ls", "headgate providers ls --all --json | jq '.gates'"],
    far=True,
)
async def ls(
    cli: CliContext,
    everything: Annotated[
        bool, typer.Option("--all", help="Also list the built-in providers that were not used yet.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List gates with their configured, learned and current rates, and what limits them."""
    if everything:
        async with cli.gates() as readable:
            gates = await readable.ls(everything=True)
    else:
        async with cli.service() as service:
            gates = await service.gates.ls(everything=False)
    if as_json:
        cli.screen.json({"gates": [gate_json(gate) for gate in gates.items]})
        return
    if not gates.items:
        cli.screen.say(
            "no request was sent through `ctx.http` yet, and no provider is declared:"
            " `headgate providers ls --all` shows the built-in ones"
        )
        return
    show_gates(cli.screen, gates)


@command(
    app,
    "show",
    ["headgate providers show wikidata", "headgate providers show wikidata --json | jq '.gates[]'"],
    far=True,
)
async def show(cli: CliContext, name: Name, as_json: Json = False) -> None:
    """Show a gate with its evidence: what was observed, when, and what was decided."""
    async with cli.gates() as readable:
        gates = await readable.show(name)
    if as_json:
        cli.screen.json({"gates": [gate_json(gate) for gate in gates.items]})
        return
    for number, gate in enumerate(gates.items):
        if number:
            cli.screen.line("")
        show_gate(cli.screen, gate, gates.now or "")
    if not any(gate.asked for gate in gates.items):
        cli.screen.say(
            "learned limits appear here once a handler has sent requests through `ctx.http`"
        )


@command(
    app,
    "set",
    [
        "headgate providers set wikidata --rate 5/s",
        "headgate providers set wikidata --rate 100/min --for 2h",
    ],
    far=True,
)
async def set_rate(
    cli: CliContext,
    *,
    name: Name,
    rate: Annotated[
        str, typer.Option("--rate", metavar="RATE", help="The rate: 5/s, 100/min, 1/3s.")
    ],
    for_time: For = None,
    as_json: Json = False,
) -> None:
    """Set a provider's rate by hand; it applies immediately, in all processes."""
    for_s = seconds_in(for_time, "--for")
    async with cli.service(create=True) as service:
        gates = await service.gates.set_rate(name, rate, for_s)
    _print_override(cli, gates, name, as_json=as_json)


@command(
    app,
    "pause",
    ["headgate providers pause wikidata", "headgate providers pause wikidata --for 30m"],
    far=True,
)
async def pause(cli: CliContext, name: Name, for_time: For = None, as_json: Json = False) -> None:
    """Stop sending to a provider; work on other providers continues."""
    for_s = seconds_in(for_time, "--for")
    async with cli.service(create=True) as service:
        gates = await service.gates.pause(name, for_s)
    _print_override(cli, gates, name, as_json=as_json)


@command(app, "resume", ["headgate providers resume wikidata"], far=True)
async def resume(cli: CliContext, name: Name, as_json: Json = False) -> None:
    """Undo `set` and `pause`: continue at the learned rate."""
    async with cli.service() as service:
        resumed, gates = await service.gates.resume(name)
    if as_json:
        cli.screen.json({"resumed": resumed, "gates": [gate_json(gate) for gate in gates.items]})
        return
    if not resumed:
        cli.screen.say(f"{name} was neither set nor paused: nothing was changed")
    for gate in gates.items:
        if gate.key in resumed:
            learned = f"at most {rate_text(gate.now_per_s)}" if gate.now_per_s else "closed"
            cli.screen.say(f"{gate.name} continues as learned: {learned}")


@command(
    app,
    "forget",
    ["headgate providers forget wikidata --dry-run", "headgate providers forget wikidata --yes"],
    far=True,
)
async def forget(
    cli: CliContext, name: Name, dry_run: DryRun = False, yes: Yes = False, as_json: Json = False
) -> None:
    """Delete the learned limits of a provider; Headgate learns them again."""
    async with cli.service() as service:
        keys = await service.gates.learned(name)
        if keys and not dry_run:
            confirm(f"Forget the learned limits of {', '.join(keys)}?", yes=yes)
        dropped = [] if dry_run else await service.gates.forget(keys)
    if as_json:
        cli.screen.json({"found": keys, "forgotten": dropped})
    elif not keys:
        cli.screen.say(f"nothing was learned about {name} yet")
    else:
        verb = "would forget" if dry_run else "forgot"
        cli.screen.say(f"{verb} the learned limits of {', '.join(keys)}")


def _print_override(cli: CliContext, gates: GateList, name: str, *, as_json: bool) -> None:
    """Print what applies now, and how to undo it."""
    if as_json:
        cli.screen.json({"gates": [gate_json(gate) for gate in gates.items]})
        return
    for gate in gates.items:
        cli.screen.say(_override_line(gate, gates.now or ""))
    cli.screen.say(f"undo it with: headgate providers resume {name}")


def _override_line(gate: Gate, now: str) -> str:
    state = override_in_words(gate.override, now) if gate.override else "as learned"
    return f"{gate.name} is {state}"
