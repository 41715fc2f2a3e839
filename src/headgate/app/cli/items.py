"""`headgate items`: single rows and their history."""

from headgate.app.cli import reviews
from headgate.app.cli.desk import Desk, command, noun
from headgate.app.cli.gate_shapes import wait_in_words, wait_shape
from headgate.app.cli.options import (
    After,
    ErrorClass,
    ItemId,
    JobId,
    Json,
    Limit,
    Statuses,
    statuses_in,
)
from headgate.app.cli.shapes import (
    ago,
    attempt_shape,
    calls_of,
    detail_shape,
    item_shape,
    span,
)
from headgate.app.service import ItemAccount
from headgate.core.call import Call
from headgate.core.moment import moment
from headgate.core.status import ItemStatus
from headgate.engine.why import Wait
from headgate.ports.reads import AttemptRow, ItemDetail, ItemQuery, Page

app = noun("items", "List and inspect the items of a job.")


@command(
    app,
    "ls",
    [
        "headgate items ls 3 --status ERROR,NOT_FOUND",
        "headgate items ls 3 --limit 1000 --json | jq -r '.items[].key'",
        "headgate items ls 3 --after CURSOR",
    ],
    far=True,
)
async def ls(
    desk: Desk,
    *,
    job_id: JobId,
    status: Statuses = None,
    error_class: ErrorClass = None,
    after: After = None,
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List a job's items in input order, a page at a time."""
    query = ItemQuery(
        job_id=job_id,
        statuses=statuses_in(status) or frozenset(),
        error_class=error_class,
        with_result=True,
        after=after,
        limit=limit,
    )
    async with desk.service() as service:
        page = await service.items.page(query)
    if as_json:
        desk.screen.json(page_shape(page))
        return
    show_page(desk, page, "no such items")


@command(
    app,
    "show",
    ["headgate items show 17", "headgate items show 17 --json | jq .result"],
    far=True,
)
async def show(desk: Desk, item_id: ItemId, as_json: Json = False) -> None:
    """Show an item with everything, and each of its attempts in order."""
    async with desk.service() as service:
        account = await service.items.account(item_id)
    show_item(desk, account, as_json=as_json)


def show_item(desk: Desk, account: ItemAccount, *, as_json: bool) -> None:
    """Print an item, what it waits for, and its history."""
    if as_json:
        history = [attempt_shape(attempt) for attempt in account.attempts]
        waiting = wait_shape(account.wait)
        desk.screen.json({**detail_shape(account.detail), "waiting": waiting, "history": history})
        return
    _show_facts(desk, account.detail, account.wait)
    desk.screen.line("\nAttempts", "bold")
    if not account.attempts:
        desk.screen.line("  none has ended yet")
    for attempt in account.attempts:
        for line in timeline(attempt):
            desk.screen.line(line)
    row = account.detail.row
    if row.status is ItemStatus.ERROR:
        desk.screen.line("\nWhat would help", "bold")
        desk.screen.line(f"  headgate dlq replay {row.id}")
        desk.screen.line("      try it again once the cause is mended", "dim")


@command(
    app, "why", ["headgate items why 17", "headgate items why 17 --json | jq .waiting"], far=True
)
async def why(desk: Desk, item_id: ItemId, as_json: Json = False) -> None:
    """Say what an item waits for: its job, its time, a gate, a worker, or its turn."""
    async with desk.service() as service:
        found = await service.items.why(item_id)
    if as_json:
        waiting = wait_shape(found.wait)
        desk.screen.json({"item_id": item_id, "status": found.status, "waiting": waiting})
        return
    reason = wait_in_words(found.wait, desk.clock.now()) if found.wait else "it is finished"
    desk.screen.line(f"item {item_id} is {found.status}: {reason}")


reviews.register(app)


def timeline(attempt: AttemptRow) -> list[str]:
    """One attempt in words: when, what came of it, how long, where, and why."""
    name = f"attempt {attempt.number}" if attempt.number else "not counted"
    ended = moment(attempt.ended_at)
    times = f"waited {span(attempt.waited_us / 1e6)}, ran {span(attempt.ran_us / 1e6)}"
    kind = f" ({attempt.error_class})" if attempt.error_class else ""
    head = f"  {ended}  {name}: {attempt.outcome.replace('_', ' ')}{kind}; {times}"
    about = f"strategy {attempt.strategy}, lease {attempt.epoch}, worker {attempt.worker}"
    lines = [head, f"      {about}"]
    if attempt.reason:
        lines.append(f"      {attempt.reason}")
    return [*lines, *(f"      {call_line(call)}" for call in calls_of(attempt))]


def call_line(call: Call) -> str:
    """One call in words: what was asked of whom, what came back, and what it waited for."""
    answer = f"{call.status} {call.kind}" if call.status else str(call.kind)
    times = f"{call.bytes:,} bytes in {span(call.ran_ms / 1e3)}"
    waited = f", waited {span(call.waited_ms / 1e3)}" if call.waited_ms else ""
    cause = f" ({call.cause})" if call.cause else ""
    return f"{call.verb} {call.host}: {answer}, {times}{waited}{cause}"


def page_shape(page: Page) -> dict[str, object]:
    """A page for JSON."""
    return {"items": [item_shape(row) for row in page.items], "next": page.next}


def show_page(desk: Desk, page: Page, nothing: str) -> None:
    """Print a page of items and how to get the next one."""
    if not page.items:
        desk.screen.say(nothing)
        return
    now = desk.clock.now()
    desk.screen.table(
        ("ITEM", "JOB", "STATUS", "#TRIES", "CHANGED", "KEY", "WHY"),
        [
            (
                str(row.id),
                str(row.job_id),
                row.status,
                row.attempts,
                ago(row.updated_at, now),
                row.key,
                f"{row.error_class}: {row.last_error}" if row.error_class else row.summary,
            )
            for row in page.items
        ],
    )
    if page.next:
        desk.screen.say(f"more: the same command with --after {page.next}")


def _show_facts(desk: Desk, detail: ItemDetail, wait: Wait | None) -> None:
    now = desk.clock.now()
    row = detail.row
    desk.screen.line(f"Item {row.id} of job {row.job_id}: {row.status}", "bold")
    desk.screen.facts(
        {
            "key": row.key,
            "line": str(row.line or ""),
            "handler": row.handler,
            "attempts": str(row.attempts),
            "crashes": str(row.crashes or ""),
            "runs alone": "yes: its process died before" if detail.suspect else None,
            "waiting": wait_in_words(wait, now) if wait else None,
            "held by": row.locked_by,
            "until": moment(detail.deadline_at),
            "changed": f"{moment(row.updated_at)} ({ago(row.updated_at, now)})",
            "error": f"{row.error_class}: {row.last_error}" if row.error_class else None,
            "input": detail.input,
            "normalized": detail.normalized,
            "result": detail.result,
        }
    )
