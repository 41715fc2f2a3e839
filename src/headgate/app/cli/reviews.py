"""`headgate items accept|reject|skip`: a person's decision on an item in REVIEW."""

from typing import Annotated

import typer

from headgate.app.cli.options import ItemName, Json, OfJob, item_id_of
from headgate.app.cli.render.jobs import json_text, whole_json
from headgate.app.cli.runtime import CliContext, command
from headgate.app.service import ItemVerbs
from headgate.core.errors import UsageError
from headgate.core.item import candidates_in
from headgate.core.status import ItemMove, ItemStatus
from headgate.engine.job_control import OPERATOR
from headgate.ports.items import ReviewDecision
from headgate.schema.items import ItemWhole

Reason = Annotated[
    str, typer.Option("--reason", metavar="TEXT", help="The reason, stored with the decision.")
]


async def accept(
    cli: CliContext,
    *,
    item: ItemName,
    job: OfJob = None,
    candidate: Annotated[
        str | None,
        typer.Option(
            "--candidate", metavar="ID", help="The candidate; not needed if there is only one."
        ),
    ] = None,
    reason: Reason = "",
    as_json: Json = False,
) -> None:
    """Accept a candidate of an item in REVIEW: it becomes the result, and the item is DONE."""
    async with cli.service() as service:
        item_id = await item_id_of(service.items, item, job)
        chosen = candidate if candidate is not None else await only_one(service.items, item_id)
        decision = ReviewDecision(item_id, ItemMove.ACCEPT, OPERATOR, chosen, reason=reason)
        decided = await service.items.decide(decision)
    _print_decision(cli, decided, as_json=as_json)


async def reject(
    cli: CliContext,
    *,
    item: ItemName,
    job: OfJob = None,
    reason: Reason = "",
    as_json: Json = False,
) -> None:
    """Reject all candidates of an item in REVIEW: the item becomes NOT_FOUND."""
    async with cli.service() as service:
        item_id = await item_id_of(service.items, item, job)
        decision = ReviewDecision(item_id, ItemMove.REJECT, OPERATOR, reason=reason)
        decided = await service.items.decide(decision)
    _print_decision(cli, decided, as_json=as_json)


async def skip(
    cli: CliContext,
    *,
    item: ItemName,
    job: OfJob = None,
    reason: Reason = "",
    as_json: Json = False,
) -> None:
    """Skip an item in REVIEW: it becomes SKIPPED."""
    async with cli.service() as service:
        item_id = await item_id_of(service.items, item, job)
        decision = ReviewDecision(item_id, ItemMove.PASS_OVER, OPERATOR, reason=reason)
        decided = await service.items.decide(decision)
    _print_decision(cli, decided, as_json=as_json)


async def only_one(items: ItemVerbs, item_id: int) -> str:
    item = await items.account(item_id)
    if item.status is not ItemStatus.REVIEW:
        raise UsageError(f"item {item_id} is {item.status}, not REVIEW: there is nothing to decide")
    found = [str(each["id"]) for each in candidates_in(json_text(item.result) or "")]
    if len(found) != 1:
        choice = f"one of {', '.join(found[:20])}" if found else "there are none: reject or skip it"
        raise UsageError(f"name the right candidate with --candidate: {choice}")
    return found[0]


def _print_decision(cli: CliContext, item: ItemWhole, *, as_json: bool) -> None:
    if as_json:
        cli.screen.json(whole_json(item))
    else:
        cli.screen.say(f"item {item.id} is {item.status}")


def register(app: typer.Typer) -> None:
    examples = ["headgate items accept 29", "headgate items accept 29 --candidate Q42"]
    command(app, "accept", examples, far=True)(accept)
    command(
        app, "reject", ["headgate items reject 29", "headgate items reject P-019 --job 3"], far=True
    )(reject)
    command(app, "skip", ["headgate items skip 29 --reason 'a duplicate'"], far=True)(skip)
