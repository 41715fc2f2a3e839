"""Sync files and folders to disk, with one call for many files where the system can."""

import ctypes
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

FEW = 3
"""Up to this number of files and folders, single fsync calls are cheaper than syncfs."""

_libc = ctypes.CDLL(None, use_errno=True)
_syncfs = getattr(_libc, "syncfs", None)


def sync_all(files: Sequence[int], folders: Iterable[Path], root: int) -> dict[int, OSError]:
    """Sync files and folders; return the error of each file that failed.

    `root` is open on the file system of all of them. Raises OSError if a folder failed.
    """
    places = sorted(set(folders))
    many = len(files) + len(places) > FEW
    if many and _syncfs is not None and _syncfs(root) == 0:
        return {}
    # After a failure each file is synced alone: another program's file may have failed.
    failed = {}
    for number in files:
        try:
            os.fsync(number)
        except OSError as error:
            failed[number] = error
    for place in places:
        sync_folder(place)
    return failed


def sync_folder(folder: Path) -> None:
    """Sync the names in a folder to disk."""
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
