"""`headgate items`: the items of a job and their history."""

from itertools import zip_longest
from typing import Annotated

import msgspec
import typer

from headgate.app.cli import reviews
from headgate.app.cli.options import (
    After,
    ErrorClass,
    ItemName,
    JobId,
    Json,
    Limit,
    OfJob,
    Statuses,
    error_class_in,
    item_id_of,
    statuses_in,
)
from headgate.app.cli.render.attempts import timeline
from headgate.app.cli.render.jobs import item_json, json_text, wait_json, whole_json
from headgate.app.cli.render.times import ago, local_time, wait_in_words
from headgate.app.cli.runtime import CliContext, command, noun
from headgate.app.service import ItemVerbs
from headgate.core.status import ItemStatus
from headgate.ports.reads import ItemQuery
from headgate.schema.items import ItemView, ItemWhole
from headgate.schema.values import Page

Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose", "-v", help="Also show the strategy, lease and worker of each attempt."
    ),
]
app = noun("items", "List and inspect the items of a job.")


@command(
    app,
    "ls",
    [
        "headgate items ls 3 --status ERROR,NOT_FOUND",
        "headgate items ls 3 --limit 1000 --json | jq -r '.items[].key'",
        "headgate items ls 3 --search acme",
        "headgate items ls 3 --after CURSOR",
    ],
    far=True,
)
async def ls(
    cli: CliContext,
    *,
    job_id: JobId,
    status: Statuses = None,
    error_class: ErrorClass = None,
    search: Annotated[
        str | None,
        typer.Option(
            "--search",
            metavar="TEXT",
            help="Only items with this text in the key or the first values.",
        ),
    ] = None,
    key: Annotated[
        str | None, typer.Option("--key", metavar="KEY", help="Only the item with this key.")
    ] = None,
    after: After = None,
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List a job's items in input order, a page at a time."""
    query = ItemQuery(
        job_id=job_id,
        statuses=statuses_in(status) or frozenset(),
        error_class=error_class_in(error_class),
        text=search or None,
        with_result=True,
        after=after,
        limit=limit,
    )
    async with cli.service() as service:
        page = await (_keyed(service.items, key, query) if key else _searched(service.items, query))
    if as_json:
        cli.screen.json(page_json(page))
        return
    show_page(cli, page, "no items match")


@command(
    app,
    "show",
    [
        "headgate items show 17",
        "headgate items show P-007 --job 3",
        "headgate items show 17 --json | jq .result",
    ],
    far=True,
)
async def show(
    cli: CliContext,
    *,
    item: ItemName,
    job: OfJob = None,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Show everything about an item, with its attempts in order."""
    async with cli.service() as service:
        whole = await service.items.account(await item_id_of(service.items, item, job))
    show_item(cli, whole, verbose=verbose, as_json=as_json)


def show_item(
    cli: CliContext, item: ItemWhole, *, verbose: bool = False, as_json: bool = False
) -> None:
    if as_json:
        cli.screen.json(whole_json(item))
        return
    _print_facts(cli, item)
    cli.screen.line("\nAttempts", "bold")
    if not item.history:
        cli.screen.line("  none has finished yet")
    # Consecutive attempts with the same traceback print it once, below the last of them.
    following = [attempt.traceback for attempt in item.history[1:]]
    for attempt, next_trace in zip_longest(item.history, following):
        traced = attempt.traceback != next_trace
        for line in timeline(attempt, verbose=verbose, traced=traced):
            cli.screen.line(line)
    if item.status is ItemStatus.ERROR:
        cli.screen.line("\nWhat would help", "bold")
        cli.screen.line(f"  headgate dlq replay {item.id}")
        cli.screen.line("      run it again once the cause is fixed", "dim")


@command(
    app,
    "why",
    [
        "headgate items why 17",
        "headgate items why P-007 --job 3",
        "headgate items why 17 --json | jq .waiting",
    ],
    far=True,
)
async def why(cli: CliContext, *, item: ItemName, job: OfJob = None, as_json: Json = False) -> None:
    """Explain what an item waits for, or why it failed and what to do."""
    async with cli.service() as service:
        item_id = await item_id_of(service.items, item, job)
        found = await service.items.why(item_id)
    if as_json:
        waiting = wait_json(found.waiting)
        ended = {"ended": found.ended or None, "todo": found.todo or None}
        cli.screen.json({"item_id": item_id, "status": found.status, "waiting": waiting, **ended})
        return
    reason = wait_in_words(found.waiting, cli.clock.now()) if found.waiting else found.ended
    cli.screen.line(f"item {item_id} is {found.status}: {reason}")
    if found.todo:
        cli.screen.line(found.todo)


reviews.register(app)


def page_json(page: Page[ItemView]) -> dict[str, object]:
    return {"items": [item_json(row) for row in page.items], "next": page.next}


async def _keyed(items: ItemVerbs, key: str, query: ItemQuery) -> Page[ItemView]:
    """The item of a job with this key, if it also matches the query."""
    found = [row for row in await items.by_key(key, query.job_id) if _fits(row, query)]
    return Page(items=found)


def _fits(row: ItemView, query: ItemQuery) -> bool:
    status = not query.statuses or row.status in query.statuses
    return status and query.error_class in {None, row.error_class}


async def _searched(items: ItemVerbs, query: ItemQuery) -> Page[ItemView]:
    """A full page if there are enough matches: a search may return few or none at a time."""
    page = await items.page(query)
    rows = list(page.items)
    while query.text and page.next and len(rows) < query.limit:
        rest = msgspec.structs.replace(query, after=page.next, limit=query.limit - len(rows))
        page = await items.page(rest)
        rows += page.items
    return Page(items=rows, next=page.next)


def show_page(cli: CliContext, page: Page[ItemView], nothing: str) -> None:
    if not page.items:
        cli.screen.say(nothing)
        return
    now = cli.clock.now()
    cli.screen.table(
        ("ITEM", "JOB", "STATUS", "#TRIES", "CHANGED", "KEY", "VALUES", "WHY"),
        [
            (
                row.id,
                row.job_id,
                row.status,
                row.attempts,
                ago(row.updated_at, now),
                row.key,
                "" if row.summary == row.key else row.summary,
                reason_of(row),
            )
            for row in page.items
        ],
    )
    if page.next:
        cli.screen.say(f"next page: the same command with --after {page.next}")


def reason_of(row: ItemView) -> str:
    if row.error_class:
        return f"{row.error_class}: {row.last_error}"
    return row.last_error or ""


def _print_facts(cli: CliContext, item: ItemWhole) -> None:
    now = cli.clock.now()
    cli.screen.line(f"Item {item.id} of job {item.job_id}: {item.status}", "bold")
    cli.screen.facts(
        {
            "key": item.key,
            "line": str(item.line or ""),
            "handler": item.handler,
            "attempts": str(item.attempts),
            "crashes": str(item.crashes or ""),
            "runs alone": "yes, because its process died before" if item.suspect else None,
            "waiting": wait_in_words(item.waiting, now) if item.waiting else None,
            "held by": item.locked_by,
            "until": local_time(item.deadline_at),
            "changed": f"{local_time(item.updated_at)} ({ago(item.updated_at, now)})",
            "error": reason_of(item) if item.error_class else None,
            "reason": None if item.error_class or item.decision else item.last_error,
            "decision": item.decision,
            "input": json_text(item.input),
            "normalized": json_text(item.normalized),
            "result": json_text(item.result),
        }
    )
