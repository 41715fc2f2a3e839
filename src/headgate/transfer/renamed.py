"""A source under other names of columns."""

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.ports.source import BatchReader, RowBatch, Source

_encoder = msgspec.json.Encoder()


class RenamedSource:
    """The rows of a source, each value under the name that somebody chose for its column."""

    def __init__(self, source: Source, names: Mapping[str, str]) -> None:
        self._source = source
        self._names = names

    def fingerprint(self) -> str:
        """A name for the content."""
        return self._source.fingerprint()

    def open(self, position: str = "") -> "RenamedReader":
        """Begin reading."""
        return RenamedReader(self._source.open(position), self._names)


class RenamedReader:
    """An open source under other names."""

    def __init__(self, reader: BatchReader, names: Mapping[str, str]) -> None:
        self._reader = reader
        self._names = names

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns under their new names."""
        return tuple(self._names.get(name, name) for name in self._reader.columns)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is worth knowing of the source."""
        return self._reader.notes

    @property
    def sheets(self) -> tuple[str, ...]:
        """The sheets of a workbook."""
        return self._reader.sheets

    def take(self, rows: int, max_bytes: int) -> RowBatch:
        """Further rows."""
        batch = self._reader.take(rows, max_bytes)
        values = [self._renamed(row) for row in batch.values]
        texts = _encoder.encode_lines(values).decode().split("\n")[:-1]
        return msgspec.structs.replace(batch, values=values, texts=texts)

    def close(self) -> None:
        """Let go of the file."""
        self._reader.close()

    def _renamed(self, row: Mapping[str, Any]) -> dict[str, Any]:
        names = self._names
        return {names.get(name, name): value for name, value in row.items()}
