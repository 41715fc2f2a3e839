"""Items in REVIEW, and the decisions of users."""

from typing import Annotated

from fastapi import APIRouter, Query
from msgspec.structs import replace
from pydantic import Field

from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.identity import CurrentUser, Principal, Writer
from headgate.app.api.models import RequestModel
from headgate.app.api.params import After, KeysetOnly, OwnItem, PageSize, job_named
from headgate.app.api.problems import documented
from headgate.app.api.state import AppState, State
from headgate.app.schema_values import item_whole, page_view
from headgate.core.paging import SortOrder
from headgate.core.status import ItemMove, ItemStatus
from headgate.ports.items import ReviewDecision
from headgate.ports.reads import ItemQuery
from headgate.schema.items import ItemView, ItemWhole
from headgate.schema.values import Page

waiting = APIRouter(prefix="/api/reviews", tags=["review"], route_class=BoundedRoute)
router = APIRouter(prefix="/api/items", tags=["review"], route_class=BoundedRoute)

UNDECIDED = frozenset({ItemStatus.REVIEW})


@waiting.get("", responses=documented(), dependencies=[KeysetOnly])
async def ls(
    who: CurrentUser,
    app_state: State,
    job_id: Annotated[str | None, Query(alias="jobId", max_length=40)] = None,
    page_size: PageSize = 100,
    after: After = None,
) -> Page[ItemView]:
    """List items that wait for a review, across jobs or in one, longest waiting first."""
    query = ItemQuery(
        job_id=await job_named(app_state, who.sees, job_id),
        statuses=UNDECIDED,
        owner=who.sees,
        order=SortOrder.UPDATED,
        after=after,
        limit=page_size,
        tail=True,
    )
    return page_view(await app_state.store.reads.items(query))


class Acceptance(RequestModel):
    """The candidate that is right."""

    candidate_id: str = Field(max_length=500)
    reason: str = Field("", max_length=1_000)


class Remark(RequestModel):
    reason: str = Field("", max_length=1_000)


@router.post("/{itemId}/accept", responses=documented(409))
async def accept(item: OwnItem, asked: Acceptance, who: Writer, app_state: State) -> ItemWhole:
    """Accept a candidate: its result becomes the result of the item, which is DONE."""
    decision = _decision(item.row.id, ItemMove.ACCEPT, who, asked.reason)
    return await _decided(app_state, replace(decision, candidate=asked.candidate_id))


@router.post("/{itemId}/reject", responses=documented(409))
async def reject(
    item: OwnItem, who: Writer, app_state: State, asked: Remark | None = None
) -> ItemWhole:
    """Reject all candidates: the item is NOT_FOUND."""
    reason = asked.reason if asked else ""
    return await _decided(app_state, _decision(item.row.id, ItemMove.REJECT, who, reason))


@router.post("/{itemId}/skip", responses=documented(409))
async def skip(
    item: OwnItem, who: Writer, app_state: State, asked: Remark | None = None
) -> ItemWhole:
    """Skip the item: it is SKIPPED."""
    reason = asked.reason if asked else ""
    return await _decided(app_state, _decision(item.row.id, ItemMove.PASS_OVER, who, reason))


def _decision(item_id: int, move: ItemMove, who: Principal, reason: str) -> ReviewDecision:
    return ReviewDecision(item_id, move, who.name, owner=who.sees, reason=reason)


async def _decided(app_state: AppState, decision: ReviewDecision) -> ItemWhole:
    await app_state.store.items.decide(decision)
    await app_state.store.notifier.ring()
    detail = await app_state.store.reads.item(decision.item_id, decision.owner)
    attempts = await app_state.store.reads.attempts(decision.item_id)
    return item_whole(detail, attempts, await app_state.store.rows.decision(decision.item_id))
