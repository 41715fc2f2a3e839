"""Sources: rows in and rows out of files, and the places that files are copied from.

A place is a folder, a bucket or a server. Files are copied to this machine before they are read:
formats must be able to seek, reading continues at a stored position after a crash, and the hashed
bytes must be the bytes read. Calls to a place block, as the libraries beneath them do; call them in
threads.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from headgate.core.redact_values import without_secrets


class RowBatch(msgspec.Struct, frozen=True):
    """Rows that were read together; the sequences run in parallel, one entry for each row.

    Columns of rows rather than row objects, because a million of them pass through here. A batch
    without rows means that the source is at its end.
    """

    first_row: int
    """The number of the first row, counted from 1 over the whole source."""
    lines: Sequence[int]
    """The line in which each row begins, counted from 1."""
    values: Sequence[Mapping[str, Any]]
    texts: Sequence[str]
    """`values` as JSON text."""
    problems: Mapping[int, str]
    """Why the row at an index is bad; its `values` contain what could be read."""
    position: str
    """Where reading continues after this batch."""
    size: int
    """Bytes of the source that the batch covers."""


class BatchReader(Protocol):
    """An open source, at some position."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns seen until now, in order; complete at the end of the source."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """Facts about the reading for users, such as sheets left out."""
        ...

    @property
    def sheets(self) -> tuple[str, ...]: ...

    def take(self, rows: int, max_bytes: int) -> RowBatch:
        """Up to `rows` further rows, fewer when they reach about `max_bytes`; empty at the end."""
        ...

    def close(self) -> None: ...


class Source(Protocol):
    def fingerprint(self) -> str:
        """A name for the content: the same bytes give the same name."""
        ...

    def open(self, position: str = "") -> BatchReader:
        """Begin to read at `position` ("" is the start), or BadSource if that is not possible."""
        ...


class BlobSink(Protocol):
    """Stores the bytes of files that are not rows: images."""

    def __call__(self, chunks: Iterator[bytes]) -> str:
        """Store the bytes and return their name."""
        ...


class RowWriter(Protocol):
    """Writes rows to a file that appears only when it is complete."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Values that were not written as they are stored, in words; known at the end."""
        ...

    def open(self, columns: Sequence[str], rows: int = 0) -> None:
        """Begin; `rows` is the expected number, for a format that must plan its sheets."""
        ...

    def write(self, rows: Sequence[Mapping[str, Any]], lines: bytes = b"") -> None:
        """Append rows; a missing value is left out or empty, depending on the format.

        `lines` may save a writer some work: the same rows, each a line with the JSON array of its
        values in column order.
        """
        ...

    def commit(self, record: Mapping[str, Any]) -> None:
        """Flush to disk and move into place, with the record of the export beside it."""
        ...

    def abandon(self) -> None: ...


class RowForm(Protocol):
    """Compares the content of a file with what its format makes of given rows."""

    def columns_differ(self, columns: Sequence[str], found: Sequence[str]) -> str | None:
        """What is wrong with the columns of a file; None if nothing is."""
        ...

    def row_differs(
        self, columns: Sequence[str], row: Mapping[str, Any], found: Mapping[str, Any]
    ) -> str | None:
        """The first value of a row that differs, in words; None if none does."""
        ...


Progress = Callable[[int, int | None], object]
"""Gets the bytes copied and the total, if known; raises to stop the copy."""


class FoundFile(msgspec.Struct, frozen=True):
    url: str
    """The URL with its password; show `shown` instead."""
    name: str
    """Its name without folders, valid for a local file."""
    size: int | None = None
    version: str = ""
    """Differs for different content; empty where the place cannot tell."""
    modified_at: int | None = None
    """UTC microseconds, by the clock of the place."""
    whole: bool = False
    """The place shows a file only when it is complete."""

    @property
    def shown(self) -> str:
        return without_secrets(self.url)

    @property
    def identity(self) -> str:
        """The same for the same content in the same place, with any password."""
        return f"{self.shown} {self.version}"

    def __repr__(self) -> str:
        return f"Found({self.shown!r}, size={self.size}, version={self.version!r})"


class CopiedFile(msgspec.Struct, frozen=True):
    found: FoundFile
    """As it was when it was copied."""
    path: Path
    size: int
    resumed_at: int
    """Number of bytes that an earlier try had copied."""


class Place(Protocol):
    """Provides files. BadSource: the source is wrong. SourceUnreachable: a later try may work."""

    def stat(self, url: str) -> FoundFile: ...

    def files(self, url: str) -> Sequence[FoundFile]:
        """The files of one folder, by name, without subfolders."""
        ...

    def fetch(
        self,
        url: str,
        target: Path,
        *,
        limit_bytes: int | None = None,
        on_progress: Progress | None = None,
    ) -> CopiedFile:
        """Copy the file to `target`, which appears when it is complete.

        A partial copy stays beside the target, and the next try continues it if the place supports
        that and the file is the same. `limit_bytes` lowers the limit in the settings of the place.
        """
        ...

    def discard(self, target: Path) -> None:
        """Remove partial copies beside the target."""
        ...
