"""What went wrong at the disk, sorted by whether the next file can fare better."""

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
def in_words(folder: Path) -> Iterator[None]:
    """Turn an OSError into the trouble that it means."""
    try:
        yield
    except OSError as error:
        raise said(error, folder) from error


def said(error: OSError, folder: Path) -> ArtifactTrouble:
    """The words for an error; what is not known as the file's own fault is the folder's."""
    if error.errno in _FULL:
        return FolderFull(f"no space is left in {folder}: make room and run the same command again")
    if error.errno in _READ_ONLY:
        return FolderReadOnly(f"{folder} may not be written to: {error.strerror}")
    if error.errno in _GONE and folder.is_dir():
        return FileTrouble(f"the file vanished from {folder} while it was being written")
    if error.errno in _GONE:
        return FolderGone(f"{folder} is no folder any more; was it moved or removed?")
    if error.errno in _ITS_OWN:
        return FileTrouble(f"the file cannot be kept in {folder}: {error.strerror}")
    return FolderTrouble(f"{folder} cannot be written to: {error.strerror or error}")
