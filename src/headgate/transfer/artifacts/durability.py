"""Waiting for the disk, once for many files where the system can."""

import ctypes
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

FEW = 3
"""Up to so many files and folders are cheaper one by one than a whole file system."""

_libc = ctypes.CDLL(None, use_errno=True)
_syncfs = getattr(_libc, "syncfs", None)


def sync_all(files: Sequence[int], folders: Iterable[Path], root: int) -> dict[int, OSError]:
    """Bring files and folders to the disk; the files that did not get there, with the reason.

    `root` is open on the file system of all of them. OSError if a folder did not get there.
    """
    places = sorted(set(folders))
    many = len(files) + len(places) > FEW
    if many and _syncfs is not None and _syncfs(root) == 0:
        return {}
    # After a failure each file is asked for itself: another program's may have failed.
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
    """Bring the names in a folder to the disk."""
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
