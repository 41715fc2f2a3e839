"""`extract`: lists a paginated API page by page into a mirror, as a description says."""

from headgate.handlers.extract.handler import EXTRACT, bound_source
from headgate.handlers.extract.plan import plan_pass
from headgate.handlers.extract.source import (
    parse_source,
    read_source,
    shipped_names,
    shipped_source,
    source_digest,
)
from headgate.ports.mirrors import PassPlan, PassWish, StreamState

__all__ = [
    "EXTRACT",
    "PassPlan",
    "PassWish",
    "StreamState",
    "bound_source",
    "parse_source",
    "plan_pass",
    "read_source",
    "shipped_names",
    "shipped_source",
    "source_digest",
]
