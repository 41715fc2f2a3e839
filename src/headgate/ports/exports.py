"""Exports that the server makes: queued, made by a free file worker, kept until they are old."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from headgate.core.fair_turns import Waiting


class ExportState(StrEnum):
    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    DONE = "DONE"
    FAILED = "FAILED"


class NewExport(msgspec.Struct, frozen=True):
    job_id: int
    format: str
    asked_by: str
    options: Mapping[str, Any] = {}
    unfinished_cap: int | None = None
    """Most unfinished exports that the user may have."""


class ExportRecord(msgspec.Struct, frozen=True):
    id: int
    job_id: int
    format: str
    asked_by: str
    options: Mapping[str, Any]
    state: ExportState
    rows: int
    """Rows written until now; all of them once the export is DONE."""
    sha256: str | None
    """Digest of the canonical values, as in the export's record."""
    file: str | None
    """Path below the data folder."""
    size: int | None
    error: str | None
    report: Mapping[str, Any] | None
    """The whole record of a finished export."""
    created_at: int
    updated_at: int
    finished_at: int | None


class ExportDone(msgspec.Struct, frozen=True):
    rows: int
    sha256: str
    file: str
    size: int
    report: Mapping[str, Any]


class ExportStore(Protocol):
    """Every verb is one transaction. A holder that does not renew in time loses the export."""

    async def ask_export(self, new: NewExport) -> ExportRecord:
        """Queue an export.

        UnknownJob if the job is gone, CapReached if the user has as many as `unfinished_cap`.
        """
        ...

    async def exports_to_make(self, per_user: int) -> list[Waiting]:
        """The oldest exports without a live holder: up to `per_user` of each user."""
        ...

    async def take_export(self, export_id: int, holder: str, ttl_s: float) -> ExportRecord | None:
        """Make one of these RUNNING; None if another holder was faster, or it is gone."""
        ...

    async def advance_export(self, export_id: int, holder: str, rows: int, ttl_s: float) -> bool:
        """Record progress and renew; False if the export was lost (another holder, or deleted)."""
        ...

    async def finish_export(self, export_id: int, holder: str, done: ExportDone) -> bool:
        """Make it DONE; False if it was lost meanwhile."""
        ...

    async def fail_export(self, export_id: int, holder: str, reason: str) -> bool:
        """Make it FAILED; False if it was lost meanwhile."""
        ...

    async def export(self, job_id: int, export_id: int) -> ExportRecord:
        """Raises UnknownExport if that job has no such export."""
        ...

    async def exports(self, job_id: int) -> list[ExportRecord]:
        """Newest first."""
        ...

    async def drop_exports(self, older_than_us: int, limit: int = 1_000) -> list[ExportRecord]:
        """Delete records of exports that finished longer ago; the caller deletes their files."""
        ...
