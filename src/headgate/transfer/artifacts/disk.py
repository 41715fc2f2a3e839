"""Sync files and folders to disk, and sort disk errors by what they affect."""

import ctypes
import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from headgate.ports.artifacts import (
    ArtifactTrouble,
    FileTrouble,
    FolderFull,
    FolderGone,
    FolderReadOnly,
    FolderTrouble,
)

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
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


_FULL = {errno.ENOSPC, errno.EDQUOT}
_READ_ONLY = {errno.EROFS, errno.EACCES, errno.EPERM}
_GONE = {errno.ENOENT, errno.ENOTDIR, errno.ESTALE}
_ITS_OWN = {errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL, errno.EFBIG}


@contextmanager
def as_artifact_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise artifact_error(error, folder) from error


def artifact_error(error: OSError, folder: Path) -> ArtifactTrouble:
    """The trouble for an OSError; unless the file is known to be the cause, the folder is."""
    if error.errno in _FULL:
        return FolderFull(f"no space is left in {folder}: make room and run the same command again")
    if error.errno in _READ_ONLY:
        return FolderReadOnly(f"{folder} may not be written to: {error.strerror}")
    if error.errno in _GONE and folder.is_dir():
        return FileTrouble(f"the file was removed from {folder} while it was being written")
    if error.errno in _GONE:
        return FolderGone(f"{folder} is not a folder any more; it may have been moved or removed")
    if error.errno in _ITS_OWN:
        return FileTrouble(f"the file cannot be kept in {folder}: {error.strerror}")
    return FolderTrouble(f"{folder} cannot be written to: {error.strerror or error}")
