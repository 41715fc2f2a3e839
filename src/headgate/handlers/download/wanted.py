"""What is known of a file before it comes, from its row, its plan and the head of its reply."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from headgate.core.content_type import ContentType, stated_type
from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.verification import Checksum, Expected, SizeBounds, stated_length
from headgate.handlers.download.note import Note
from headgate.handlers.download.plan import Plan

CHECKSUMS: Final = ("checksum", "sha256", "sha512", "sha1", "md5")
"""The columns of a row that may hold one."""


class BadChecksum(AttemptOver):
    """A row whose checksum cannot be read; no retry will change that."""

    code = "bad-checksum"

    def __init__(self, problem: str) -> None:
        super().__init__(Fault(FaultClass.PERMANENT, problem))


def checksum_in(row: Mapping[str, Any]) -> Checksum | None:
    """The checksum that a row gives, if it does."""
    for column in CHECKSUMS:
        text = str(row.get(column) or "").strip()
        if text:
            named = text if ":" in text or column == "checksum" else f"{column}:{text}"
            try:
                return Checksum.parse(named)
            except ValueError as error:
                raise BadChecksum(str(error)) from None
    return None


class Wishes(msgspec.Struct, frozen=True):
    """What will do for every item of a job."""

    allowed: frozenset[ContentType]
    """None named: whatever the resolver promises."""
    bounds: SizeBounds


class Wanted:
    """What will do for one item."""

    __slots__ = ("_checksum", "_wishes")

    def __init__(self, wishes: Wishes, row: Mapping[str, Any]) -> None:
        self._wishes = wishes
        self._checksum = checksum_in(row)

    def checksum(self, plan: Plan) -> Checksum | None:
        """What the bytes must hash to: as the row says, else as the service does."""
        if self._checksum is not None or not plan.checksum:
            return self._checksum
        try:
            return Checksum.parse(plan.checksum)
        except ValueError:
            return None  # of an algorithm that we do not know

    def allowed(self, plan: Plan) -> frozenset[ContentType]:
        """The types that will do; none: any."""
        return self._wishes.allowed or frozenset(map(ContentType, plan.types))

    def expected(self, plan: Plan, status: int, headers: Mapping[str, str]) -> Expected:
        """What the body of a reply must be."""
        name = plan.url.partition("?")[0].partition("#")[0]
        return Expected(
            promised=stated_type(headers.get("content-type", ""), name),
            allowed=self.allowed(plan),
            length=stated_length(status, headers),
            checksum=self.checksum(plan),
            bounds=self._wishes.bounds,
        )

    def will_do(self, plan: Plan, note: Note) -> bool:
        """Whether a file that was fetched under other wishes meets these."""
        allowed, checksum = self.allowed(plan), self.checksum(plan)
        if allowed and note.content_type not in allowed:
            return False
        bounds = self._wishes.bounds
        if not bounds.min_bytes <= note.bytes <= bounds.max_bytes:
            return False
        return checksum is None or checksum == Checksum("sha256", note.sha256)
