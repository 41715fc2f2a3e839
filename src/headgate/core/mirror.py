"""Mirrors: the rows that a job keeps, the items that follow from an item, the end of a checkpoint.

A mirror is the durable copy of a source. A stream is one kind of row in it. A pass is one job over
a mirror, and a checkpoint is the state of one stream in one pass.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

import msgspec

from headgate.core.status import ItemStatus


class Proof(StrEnum):
    """How we know that a pass saw every row of a stream."""

    COVERED = "covered"
    """The pages cover the whole order of a unique key."""
    CHAINED = "chained"
    """Each page named the next one, from the first to the last."""
    COUNTED = "counted"
    """As many distinct rows as the source says there are."""
    UNPROVEN = "unproven"
    """Nothing of that holds: absence of a row means nothing."""


class PassMode(StrEnum):
    FULL = "full"
    INCREMENTAL = "incremental"


class ChangeKind(StrEnum):
    """How a row differs.

    The change log has no additions. It has deletions by absence only of rows that came back.
    """

    ADDED = "added"
    CHANGED = "changed"
    DELETED = "deleted"
    RESTORED = "restored"


class FollowUp(msgspec.Struct, frozen=True, gc=False):
    """A further item of the same job. A key that the job already has is not added again."""

    key: str
    input: Mapping[str, Any]
    checkpoint: str = ""
    """The checkpoint that stays open until this item has ended well; empty: none."""
    gate: str = ""
    """Its own gate; empty: as the handler's `gate_of` says."""


class MirrorRow(msgspec.Struct, frozen=True, gc=False):
    """A row as a page of the source had it. A newer pass replaces the body if the hash differs."""

    stream: str
    id: str
    body: Mapping[str, Any] | msgspec.Raw | None
    """A JSON object; as `Raw` it is stored as it was received.

    None: the row is only mentioned. A stored row of that id counts as seen, and is deleted or
    restored as the mention says, but its body and hash stay. `then` is added if the hash is
    another one, or if there is no such row: that item brings the body with the same hash.
    """
    hash: str = ""
    """Of the body without the fields that do not matter; empty: of the whole body."""
    updated: str | None = None
    """The source's own stamp of the last change."""
    parent: str | None = None
    deleted: bool = False
    """The row itself says that it was deleted."""
    then: FollowUp | None = None
    """Added only if the row is new or changed."""


class Closing(msgspec.Struct, frozen=True):
    """A stream is complete in this pass, and how we know."""

    checkpoint: str
    proof: Proof
    watermark: str | None = None
    """The source's own stamp up to which everything is known; None: unchanged."""
    evidence: Mapping[str, Any] = {}
    deletes: bool = True
    """Rows that this pass did not see are deleted, if it was a full one and is proven."""


ATTACHABLE = frozenset(
    {ItemStatus.DONE, ItemStatus.NOT_FOUND, ItemStatus.SKIPPED, ItemStatus.REVIEW}
)
"""The statuses of settlements that may have an attachment."""


class Attachment(msgspec.Struct, frozen=True):
    """What is committed together with the settlement of one item, or not at all.

    Every settlement of a pass that ends an item has one, be it empty: the store looks for
    checkpoints to close only then.
    """

    item_id: int
    job_id: int
    epoch: int
    rows: Sequence[MirrorRow] = ()
    items: Sequence[FollowUp] = ()
    closing: Closing | None = None
    total: int | None = None
    """The number of rows that the source says the stream has."""
    fields: Mapping[str, Mapping[str, int]] = {}
    """By stream: names of fields, with the bits of their types (see `core.json_types`)."""
    size: int = 0
    """About how many bytes it has as JSON."""
