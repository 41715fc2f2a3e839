"""The lines of the two records in a download folder: the result of each item, and each step."""

from enum import StrEnum

import msgspec

MANIFEST = "manifest.jsonl"
ATTEMPTS = "attempts.csv"


class FinalOutcome(StrEnum):
    DONE = "done"
    SKIPPED = "skipped"
    NOT_FOUND = "not_found"
    ERROR = "error"


class ManifestLine(msgspec.Struct, frozen=True):
    """The result of one item; fields that do not apply are null."""

    id: str
    input: str
    outcome: FinalOutcome
    reason: str | None = None
    resolver: str | None = None
    url: str | None = None
    """URL of the plan that decided."""
    final_url: str | None = None
    content_type: str | None = None
    bytes: int | None = None
    sha256: str | None = None
    path: str | None = None
    """Relative to the folder."""
    cache: str | None = None
    started_at: str | None = None
    finished_at: str | None = None


class AttemptStep(msgspec.Struct, frozen=True):
    id: str
    attempt: int
    at: str
    step: str
    """`http-head`, `http-get`, `cache-hit`, `http-304`, `http-200`, `retry` and the like."""
    resolver: str = ""
    host: str = ""
    status: int | None = None
    bytes: int | None = None
    ran_ms: float | None = None
    waited_ms: float | None = None
    reason: str = ""
