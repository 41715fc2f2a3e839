"""The event as the API returns it."""

from headgate.app.api.models import Identifier, Moment, ResponseModel
from headgate.core.redact_text import redacted
from headgate.core.time_text import moment
from headgate.ports.reads import EventRow


class EventView(ResponseModel):
    id: Identifier
    at: Moment
    job_id: Identifier | None
    item_id: Identifier | None
    kind: str
    message: str


def event_view(row: EventRow) -> EventView:
    return EventView(
        id=str(row.id),
        at=moment(row.at),
        job_id=None if row.job_id is None else str(row.job_id),
        item_id=None if row.item_id is None else str(row.item_id),
        kind=row.kind,
        message=redacted(row.message),
    )
