"""The records in a download folder: written anew from what is stored, and replaced whole."""

import itertools
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from headgate.core.manifest import ATTEMPTS, MANIFEST, AttemptStep, ManifestLine
from headgate.transfer.artifacts.durability import sync_folder
from headgate.transfer.artifacts.folder import ASIDE
from headgate.transfer.artifacts.partial import Partial
from headgate.transfer.artifacts.trouble import in_words
from headgate.transfer.formats.cells import Formulas, csv_cells, csv_line, header_line

_BATCH = 1_000

Row = TypeVar("Row")


def write_manifest(root: Path, lines: Iterable[ManifestLine]) -> None:
    """Write `manifest.jsonl`: one line an item, in the order that they come in."""
    encode = msgspec.json.Encoder().encode_lines
    _replace(root, MANIFEST, (encode(batch) for batch in _batches(lines)))


def write_attempts(root: Path, steps: Iterable[AttemptStep]) -> None:
    """Write `attempts.csv`: one line a step, below a line of names."""
    head = [header_line(AttemptStep.__struct_fields__, ",")]
    lines = ([_line(step) for step in batch] for batch in _batches(steps))
    pieces = itertools.chain([head], lines)
    _replace(root, ATTEMPTS, (_text(piece) for piece in pieces))


def _replace(root: Path, name: str, pieces: Iterable[bytes]) -> None:
    with in_words(root):
        fresh = Partial(root / ASIDE, f"{name} {os.getpid()}")
        try:
            fresh.clear_if_used()
            for piece in pieces:
                fresh.append([piece])
            os.fsync(fresh.number)
            fresh.path.replace(root / name)
            sync_folder(root)
        except BaseException:
            fresh.remove()
            raise
        finally:
            fresh.close()


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    each = iter(rows)
    while batch := list(itertools.islice(each, _BATCH)):
        yield batch


def _line(step: AttemptStep) -> str:
    return csv_line(csv_cells(msgspec.structs.astuple(step), Formulas.NEUTRAL), ",")


def _text(lines: Iterable[str]) -> bytes:
    return "".join(lines).encode(errors="backslashreplace")
