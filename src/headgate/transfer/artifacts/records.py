"""The records in a download folder: rewritten from the stored items, and replaced whole."""

import itertools
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from headgate.core.download_folder import ATTEMPTS, MANIFEST, AttemptStep, ManifestLine
from headgate.transfer.artifacts.disk import as_artifact_errors, sync_folder
from headgate.transfer.artifacts.folder import ASIDE
from headgate.transfer.artifacts.partial import Partial
from headgate.transfer.formats.cells import Formulas, csv_cells, csv_line, header_line

_BATCH = 1_000

Row = TypeVar("Row")


class RecordFile(Generic[Row]):
    def __init__(
        self, path: Path, encode: Callable[[Sequence[Row]], bytes], head: str = ""
    ) -> None:
        self._path = path
        self._encode = encode
        self._head = head
        self._fresh: Partial | None = None

    def open(self) -> None:
        with as_artifact_errors(self._path.parent):
            self._fresh = Partial(self._path.parent / ASIDE, f"{self._path.name} {os.getpid()}")
            self._fresh.clear()
            self._fresh.append(self._head.encode())

    def write(self, rows: Sequence[Row]) -> None:
        with as_artifact_errors(self._path.parent):
            self._opened().append(self._encode(rows))

    def commit(self) -> None:
        """Replace the old record, durably."""
        fresh = self._opened()
        with as_artifact_errors(self._path.parent):
            os.fsync(fresh.number)
            fresh.path.replace(self._path)
            sync_folder(self._path.parent)
        fresh.close()

    def abandon(self) -> None:
        """Remove the new file; the old record stays."""
        if self._fresh is not None:
            self._fresh.remove()
            self._fresh.close()

    def _opened(self) -> Partial:
        if self._fresh is None:
            raise RuntimeError("the record was not opened")
        return self._fresh


def manifest_file(root: Path) -> RecordFile[ManifestLine]:
    """`manifest.jsonl`: one object per item."""
    return RecordFile(root / MANIFEST, msgspec.json.Encoder().encode_lines)


def attempts_file(root: Path) -> RecordFile[AttemptStep]:
    """`attempts.csv`: a header line, then one line per step."""
    return RecordFile(root / ATTEMPTS, _csv, header_line(AttemptStep.__struct_fields__, ","))


def write_all(record: RecordFile[Row], rows: Iterable[Row]) -> None:
    record.open()
    try:
        each = iter(rows)
        while batch := list(itertools.islice(each, _BATCH)):
            record.write(batch)
        record.commit()
    except BaseException:
        record.abandon()
        raise


def _csv(steps: Sequence[AttemptStep]) -> bytes:
    rows = (csv_cells(msgspec.structs.astuple(step), Formulas.NEUTRAL) for step in steps)
    return "".join(csv_line(row, ",") for row in rows).encode(errors="backslashreplace")
