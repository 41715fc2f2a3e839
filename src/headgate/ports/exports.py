"""Exports that the server makes: asked for, made by whoever is free, kept until they are old."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from headgate.core.slots import Waiting


class ExportState(StrEnum):
    """Where an export stands."""

    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    DONE = "DONE"
    FAILED = "FAILED"


class NewExport(msgspec.Struct, frozen=True):
    """An export to be made."""

    job_id: int
    format: str
    asked_by: str
    options: Mapping[str, Any] = {}
    unfinished_cap: int | None = None
    """How many unfinished exports the user may have."""


class ExportRecord(msgspec.Struct, frozen=True):
    """A stored export."""

    id: int
    job_id: int
    format: str
    asked_by: str
    options: Mapping[str, Any]
    state: ExportState
    rows: int
    """Written so far; all of them once it is DONE."""
    sha256: str | None
    """Of the canonical values, as in the export's record."""
    file: str | None
    """Its name below the data folder."""
    size: int | None
    error: str | None
    report: Mapping[str, Any] | None
    """The whole record of a finished export."""
    created_at: int
    updated_at: int
    finished_at: int | None


class ExportDone(msgspec.Struct, frozen=True):
    """How an export ended well."""

    rows: int
    sha256: str
    file: str
    size: int
    report: Mapping[str, Any]


class ExportStore(Protocol):
    """Every verb is one transaction. A holder that is silent for longer than its time loses it."""

    async def ask_export(self, new: NewExport) -> ExportRecord:
        """Put an export in line.

        UnknownJob if the job is gone, CapReached if the user has as many as `unfinished_cap`.
        """
        ...

    async def exports_to_make(self, per_user: int) -> list[Waiting]:
        """The oldest that wait, or whose holder fell silent: up to `per_user` of each user."""
        ...

    async def take_export(self, export_id: int, holder: str, ttl_s: float) -> ExportRecord | None:
        """Make one of these RUNNING; None if another holder was faster, or it is gone."""
        ...

    async def advance_export(self, export_id: int, holder: str, rows: int, ttl_s: float) -> bool:
        """Note progress and keep hold; False if it was lost (another holder, or deleted)."""
        ...

    async def finish_export(self, export_id: int, holder: str, done: ExportDone) -> bool:
        """Make it DONE; False if it was lost meanwhile."""
        ...

    async def fail_export(self, export_id: int, holder: str, reason: str) -> bool:
        """Make it FAILED; False if it was lost meanwhile."""
        ...

    async def export(self, job_id: int, export_id: int) -> ExportRecord:
        """One export of a job, or UnknownExport."""
        ...

    async def exports(self, job_id: int) -> list[ExportRecord]:
        """The exports of a job, newest first."""
        ...

    async def drop_exports(self, older_than_us: int, limit: int = 1_000) -> list[ExportRecord]:
        """Forget finished exports that ended longer ago than that; their files are the caller's."""
        ...
