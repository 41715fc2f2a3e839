"""A source with renamed columns."""

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.ports.source import BatchReader, RowBatch, Source

_encoder = msgspec.json.Encoder()


class RenamedSource:
    """The rows of a source, with the column names that a user chose."""

    def __init__(self, source: Source, names: Mapping[str, str]) -> None:
        self._source = source
        self._names = names

    def fingerprint(self) -> str:
        return self._source.fingerprint()

    def open(self, position: str = "") -> "RenamedReader":
        return RenamedReader(self._source.open(position), self._names)


class RenamedReader:
    def __init__(self, reader: BatchReader, names: Mapping[str, str]) -> None:
        self._reader = reader
        self._names = names

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._names.get(name, name) for name in self._reader.columns)

    @property
    def notes(self) -> tuple[str, ...]:
        return self._reader.notes

    @property
    def sheets(self) -> tuple[str, ...]:
        return self._reader.sheets

    def take(self, rows: int, max_bytes: int) -> RowBatch:
        batch = self._reader.take(rows, max_bytes)
        values = [self._renamed(row) for row in batch.values]
        texts = _encoder.encode_lines(values).decode().split("\n")[:-1]
        return msgspec.structs.replace(batch, values=values, texts=texts)

    def close(self) -> None:
        self._reader.close()

    def _renamed(self, row: Mapping[str, Any]) -> dict[str, Any]:
        names = self._names
        return {names.get(name, name): value for name, value in row.items()}
