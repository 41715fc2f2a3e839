"""Disk errors, sorted by whether they affect one file or the whole folder."""

import errno
from collections.abc import Iterator
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

_FULL = {errno.ENOSPC, errno.EDQUOT}
_READ_ONLY = {errno.EROFS, errno.EACCES, errno.EPERM}
_GONE = {errno.ENOENT, errno.ENOTDIR, errno.ESTALE}
_ITS_OWN = {errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL, errno.EFBIG}


@contextmanager
def as_artifact_errors(folder: Path) -> Iterator[None]:
    """Raise the matching ArtifactTrouble for an OSError."""
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
