"""A person's decision about an item."""

from typing import Any

from headgate.core.errors import UnknownItem
from headgate.core.review import chosen_result, demand_decision, told
from headgate.core.status import ItemStatus, item_after
from headgate.ports.items import Decision
from headgate.stores.postgres.connection import Session
from headgate.stores.postgres.literals import storable, text_array
from headgate.stores.postgres.records import add_counts, add_event
from headgate.stores.postgres.rows import as_json, fitting


async def decide(session: Session, decision: Decision) -> None:
    """Move the item, keep who decided, and count."""
    demand_decision(decision.move, decision.candidate)
    item = await session.record("lock_item", item_id=decision.item_id)
    if item is None or decision.owner not in {None, item["owner"]}:
        raise UnknownItem(f"there is no item {decision.item_id}")
    if session.again and await _was_kept(session, decision, item["epoch"]):
        return
    job_id, target = item["job_id"], item_after(decision.move, ItemStatus(item["status"]))
    words = told(decision.move, decision.candidate, decision.by, decision.reason)
    await session.change(
        "decide_item",
        job_id=job_id,
        item_id=decision.item_id,
        status=target,
        result=await _keep_choice(session, item, decision),
        reason=None if decision.candidate is not None else storable(words),
    )
    await session.change("insert_decision", epoch=item["epoch"], **_kept(decision))
    await add_counts(session, [(job_id, ItemStatus.REVIEW, -1), (job_id, target, 1)])
    await add_event(session, "decided", words, job_id, decision.item_id)


def _kept(decision: Decision) -> dict[str, Any]:
    return fitting(
        item_id=decision.item_id,
        move=decision.move,
        candidate=decision.candidate,
        by=decision.by,
        reason=decision.reason,
    )


async def _was_kept(session: Session, decision: Decision, epoch: int) -> bool:
    """Whether a try that was cut off has been committed after all."""
    found = await session.rows("decision", item_id=decision.item_id, epoch=epoch)
    kept = _kept(decision)
    return found == [(kept["move"], kept["candidate"], kept["by"])]


async def _keep_choice(session: Session, item: dict[str, Any], decision: Decision) -> str | None:
    if decision.candidate is None:
        return None
    result = chosen_result(item["result"], decision.candidate)
    await session.change("insert_columns", job_id=item["job_id"], names=text_array(list(result)))
    return as_json(result)
