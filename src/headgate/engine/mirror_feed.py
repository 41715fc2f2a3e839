"""Tells what has changed in a mirror as Singer messages, deletions included."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from headgate.core.singer import (
    DELETED_AT,
    ROW_ID,
    Bookmark,
    Message,
    record_message,
    schema_message,
    state_message,
)
from headgate.core.time_text import stamp
from headgate.ports.mirrors import Mirror, MirrorStore, RowQuery, StoredRow, Stream

PAGE: Final = 1_000
_decode: Final = msgspec.json.Decoder(dict[str, Any]).decode


class MirrorFeed:
    """The messages of one mirror from bookmarks on.

    A row may be told twice, since it may change while it is told; it is never left out. What a
    target has stored before it fails is told again from the last STATE that it confirmed.
    """

    def __init__(
        self, mirrors: MirrorStore, mirror: Mirror, bookmarks: Mapping[str, Bookmark]
    ) -> None:
        self._mirrors = mirrors
        self._keys = _keys_by_stream(mirror.source)
        self._bookmarks = dict(bookmarks)

    async def messages(self, streams: Sequence[Stream]) -> AsyncIterator[Message]:
        for stream in streams:
            async for message in self._of_stream(stream):
                yield message
        yield state_message(self._bookmarks)

    async def _of_stream(self, stream: Stream) -> AsyncIterator[Message]:
        fields = {each.name: each.types for each in await self._mirrors.fields(stream.id)}
        keys = [key for key in self._keys.get(stream.name, ()) if key in fields] or [ROW_ID]
        if len(keys) < len(self._keys.get(stream.name, ())):
            keys = [ROW_ID]
        yield schema_message(stream.name, fields, keys)
        bookmark = self._bookmarks.get(stream.name, Bookmark())
        # First what became of rows that were told before, then new rows. What changes meanwhile is
        # behind the bookmark, and told next time.
        change = bookmark.change
        async for row, place in self._changed(stream, bookmark):
            change = place
            if row is not None:
                yield _record(stream, row, keys)
        async for row in self._gone(stream, bookmark):
            yield _record(stream, row, keys)
        number = bookmark.number
        async for page in self._pages(stream, bookmark.number):
            # Deleted ones too: the target may have heard of them after the last STATE it confirmed.
            for row in page:
                yield _record(stream, row, keys)
            number = page[-1].number
            self._bookmarks[stream.name] = Bookmark(number, change, stream.full_pass)
            yield state_message(self._bookmarks)
        self._bookmarks[stream.name] = Bookmark(number, change, stream.full_pass)

    async def _changed(
        self, stream: Stream, bookmark: Bookmark
    ) -> AsyncIterator[tuple[StoredRow | None, int]]:
        """Rows that were told before and have changed since, with the place in the change log."""
        after = bookmark.change
        while page := await self._mirrors.changes(stream.id, after, PAGE):
            after = page[-1].id
            ids = {each.row_id: None for each in page if each.row <= bookmark.number}
            for row_id in ids:
                yield await self._mirrors.row(stream.id, row_id), after
            yield None, after

    async def _gone(self, stream: Stream, bookmark: Bookmark) -> AsyncIterator[StoredRow]:
        """Rows that were told before and that a full pass has not seen since."""
        if not bookmark.number or stream.full_pass == bookmark.full_pass:
            return
        async for page in self._pages(stream, 0):
            for row in page:
                if row.number > bookmark.number:
                    return
                if row.deleted_at is not None and row.seen_pass >= bookmark.full_pass:
                    yield row

    async def _pages(self, stream: Stream, after: int) -> AsyncIterator[list[StoredRow]]:
        while page := await self._mirrors.rows(RowQuery(stream.id, after, PAGE, deleted=True)):
            after = page[-1].number
            yield page


def _record(stream: Stream, row: StoredRow, keys: Sequence[str]) -> Message:
    deleted_at = None if row.deleted_at is None else stamp(row.deleted_at)
    own = {ROW_ID: row.id} if ROW_ID in keys else {}
    return record_message(stream.name, {**_decode(row.body), **own, DELETED_AT: deleted_at})


def _keys_by_stream(source: Mapping[str, Any]) -> dict[str, Sequence[str]]:
    """The primary keys of a source's streams, with its defaults."""
    defaults = source.get("resource_defaults") or {}
    usual = defaults.get("primary_key", "id")
    found: dict[str, Sequence[str]] = {}
    for resource in source.get("resources") or []:
        if isinstance(resource, Mapping):
            keys = resource.get("primary_key", usual)
            found[str(resource.get("name"))] = [keys] if isinstance(keys, str) else list(keys)
    return found
