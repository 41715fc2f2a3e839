"""Remove files that crashes left behind; files that a process is writing are locked and stay."""

import os
from collections.abc import Iterator
from pathlib import Path

from headgate.transfer.artifacts.content_store import ContentStore
from headgate.transfer.artifacts.partial import (
    NOTE_SUFFIX,
    SUFFIX,
    belongs_to_item,
    is_placed,
    lock_free,
    read_note,
)


def tidy_leftovers(folder: Path, before_us: int) -> int:
    """Remove unfinished files that are unlocked and will not be resumed; return their number."""
    removed = sum(_remove_part(path, before_us) for path in _files(folder, SUFFIX))
    for suffix in (NOTE_SUFFIX, ".new"):
        for note in _files(folder, suffix):
            if not note.with_suffix(SUFFIX).exists():
                note.unlink(missing_ok=True)
                removed += 1
    return removed


def tidy_store(root: Path) -> int:
    """Remove contents that no name links to; return their number."""
    removed = 0
    for content in ContentStore(root).unnamed():
        content.unlink(missing_ok=True)
        removed += 1
    return removed


def _remove_part(path: Path, before_us: int) -> bool:
    number = lock_free(path)
    if number is None:
        return False
    try:
        # Removed under its lock: a process that opens it meanwhile sees that it is gone.
        if _may_be_resumed(path, number, before_us):
            return False
        path.with_suffix(NOTE_SUFFIX).unlink(missing_ok=True)
        path.unlink(missing_ok=True)
    finally:
        os.close(number)
    return True


def _may_be_resumed(path: Path, number: int, before_us: int) -> bool:
    note = read_note(path.with_suffix(NOTE_SUFFIX))
    if note is None or not note.origin.validator:
        return False
    if is_placed(number) or not belongs_to_item(path):
        return False
    return os.fstat(number).st_mtime_ns // 1_000 >= before_us


def _files(folder: Path, suffix: str) -> Iterator[Path]:
    if folder.is_dir():
        yield from [path for path in folder.iterdir() if path.name.endswith(suffix)]
