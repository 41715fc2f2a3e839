"""A person's decision about an item."""

from headgate.core.errors import UnknownItem
from headgate.core.review import chosen_result, demand_decision, told
from headgate.core.status import ItemStatus, item_after
from headgate.ports.items import Decision
from headgate.stores.sqlite.connection import Transaction
from headgate.stores.sqlite.records import add_counts, add_event, as_json


def decide(tx: Transaction, decision: Decision) -> None:
    """Move the item, keep who decided, and count."""
    demand_decision(decision.move, decision.candidate)
    item = tx.record("item", item_id=decision.item_id)
    if item is None or decision.owner not in {None, item["owner"]}:
        raise UnknownItem(f"there is no item {decision.item_id}")
    target = item_after(decision.move, ItemStatus(item["status"]))
    words = told(decision.move, decision.candidate, decision.by, decision.reason)
    accepted = decision.candidate is not None
    tx.change(
        "decide_item",
        item_id=decision.item_id,
        status=target,
        result=_keep_choice(tx, item["job_id"], item["result"], decision),
        reason=None if accepted else words,
    )
    tx.change(
        "insert_decision",
        item_id=decision.item_id,
        epoch=item["epoch"],
        move=decision.move,
        candidate=decision.candidate,
        by=decision.by,
        reason=decision.reason,
    )
    add_counts(tx, [(item["job_id"], ItemStatus.REVIEW, -1), (item["job_id"], target, 1)])
    add_event(tx, "decided", words, item["job_id"], decision.item_id)


def _keep_choice(tx: Transaction, job_id: int, stored: str, decision: Decision) -> str | None:
    if decision.candidate is None:
        return None
    result = chosen_result(stored, decision.candidate)
    tx.change("insert_columns", job_id=job_id, names=as_json(list(result)))
    return as_json(result)
