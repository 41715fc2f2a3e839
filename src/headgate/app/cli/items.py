"""`headgate items`: the items of a job and their history."""

from itertools import zip_longest
from typing import Annotated

import msgspec
import typer

from headgate.app.cli import reviews
from headgate.app.cli.item_names import item_id_of
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
    statuses_in,
)
from headgate.app.cli.render.attempts import timeline
from headgate.app.cli.render.gates import wait_in_words, wait_json
from headgate.app.cli.render.jobs import ago, attempt_json, detail_json, item_json, local_time
from headgate.app.cli.runtime import CliContext, command, noun
from headgate.app.service import ItemHistoryView, ItemVerbs
from headgate.core.status import ItemStatus
from headgate.ports.reads import ItemQuery, ItemRow, Page

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
    """Show all that is known about an item, and its attempts in order."""
    async with cli.service() as service:
        account = await service.items.account(await item_id_of(service.items, item, job))
    show_item(cli, account, verbose=verbose, as_json=as_json)


def show_item(
    cli: CliContext, account: ItemHistoryView, *, verbose: bool = False, as_json: bool = False
) -> None:
    if as_json:
        history = [attempt_json(attempt) for attempt in account.attempts]
        waiting = wait_json(account.wait)
        shape = detail_json(account.detail)
        shape |= {"waiting": waiting, "decision": account.decision, "history": history}
        cli.screen.json(shape)
        return
    _show_facts(cli, account)
    cli.screen.line("\nAttempts", "bold")
    if not account.attempts:
        cli.screen.line("  none has finished yet")
    # Consecutive attempts with the same traceback print it once, below the last of them.
    following = [attempt.trace for attempt in account.attempts[1:]]
    for attempt, next_trace in zip_longest(account.attempts, following):
        traced = attempt.trace != next_trace
        for line in timeline(attempt, verbose=verbose, traced=traced):
            cli.screen.line(line)
    row = account.detail.row
    if row.status is ItemStatus.ERROR:
        cli.screen.line("\nWhat would help", "bold")
        cli.screen.line(f"  headgate dlq replay {row.id}")
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
        waiting = wait_json(found.wait)
        ended = {"ended": found.ended or None, "todo": found.todo or None}
        cli.screen.json({"item_id": item_id, "status": found.status, "waiting": waiting, **ended})
        return
    reason = wait_in_words(found.wait, cli.clock.now()) if found.wait else found.ended
    cli.screen.line(f"item {item_id} is {found.status}: {reason}")
    if found.todo:
        cli.screen.line(found.todo)


reviews.register(app)


def page_json(page: Page) -> dict[str, object]:
    return {"items": [item_json(row) for row in page.items], "next": page.next}


async def _keyed(items: ItemVerbs, key: str, query: ItemQuery) -> Page:
    """The item of a job with this key, if it also matches the query."""
    found = [row for row in await items.by_key(key, query.job_id) if _fits(row, query)]
    return Page(found, None)


def _fits(row: ItemRow, query: ItemQuery) -> bool:
    status = not query.statuses or row.status in query.statuses
    return status and query.error_class in {None, row.error_class}


async def _searched(items: ItemVerbs, query: ItemQuery) -> Page:
    """A full page if there are enough matches: a search may return few or none at a time."""
    page = await items.page(query)
    rows = list(page.items)
    while query.text and page.next and len(rows) < query.limit:
        rest = msgspec.structs.replace(query, after=page.next, limit=query.limit - len(rows))
        page = await items.page(rest)
        rows += page.items
    return Page(rows, page.next)


def show_page(cli: CliContext, page: Page, nothing: str) -> None:
    """Print a page of items, and the option that shows the next page."""
    if not page.items:
        cli.screen.say(nothing)
        return
    now = cli.clock.now()
    cli.screen.table(
        ("ITEM", "JOB", "STATUS", "#TRIES", "CHANGED", "KEY", "VALUES", "WHY"),
        [
            (
                str(row.id),
                str(row.job_id),
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


def reason_of(row: ItemRow) -> str:
    if row.error_class:
        return f"{row.error_class}: {row.last_error}"
    return row.last_error or ""


def _show_facts(cli: CliContext, account: ItemHistoryView) -> None:
    now = cli.clock.now()
    detail, wait = account.detail, account.wait
    row = detail.row
    cli.screen.line(f"Item {row.id} of job {row.job_id}: {row.status}", "bold")
    cli.screen.facts(
        {
            "key": row.key,
            "line": str(row.line or ""),
            "handler": row.handler,
            "attempts": str(row.attempts),
            "crashes": str(row.crashes or ""),
            "runs alone": "yes, because its process died before" if detail.suspect else None,
            "waiting": wait_in_words(wait, now) if wait else None,
            "held by": row.locked_by,
            "until": local_time(detail.deadline_at),
            "changed": f"{local_time(row.updated_at)} ({ago(row.updated_at, now)})",
            "error": reason_of(row) if row.error_class else None,
            "reason": None if row.error_class or account.decision else row.last_error,
            "decision": account.decision,
            "input": detail.input,
            "normalized": detail.normalized,
            "result": detail.result,
        }
    )
