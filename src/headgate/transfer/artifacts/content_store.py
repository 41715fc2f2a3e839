"""Finished files: each content once, by its hash, and a readable name that leads to it."""

import errno
import fcntl
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headgate.core.file_name import marked
from headgate.ports.artifacts import FileTrouble

STORE = ".headgate-store"

_NO_LINKS = {
    errno.EPERM,
    errno.EOPNOTSUPP,
    errno.ENOSYS,
    errno.EXDEV,
    errno.EMLINK,
}
"""The file system has no links, or no more of them for this content."""


class ContentStore:
    """Puts complete files into a folder. What is under a name there is never replaced.

    Every step is one that the file system does whole or not at all, and each leaves the folder
    sound: at worst a content lies in the store that no name leads to.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._store = root / STORE

    def place(self, file: Path, sha256: str, name: str) -> tuple[str, bool]:
        """The name that the file got, and whether its content was there before.

        `file` stays where it is, unless there are no links: then it is moved.
        """
        content, fresh = self._content(sha256), True
        try:
            fresh = self._stored(file, content, sha256)
            return self._named(file, content, sha256, name), not fresh
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            return self._moved(file, sha256, name), not fresh

    def folders(self, sha256: str) -> list[Path]:
        """Where a file with this content has its names; without links, there is no store."""
        content_store = self._content(sha256).parent
        return [self._root, content_store] if content_store.is_dir() else [self._root]

    def unnamed(self) -> Iterator[Path]:
        """Contents that no name leads to any more."""
        if self._store.is_dir():
            for content_store in self._store.iterdir():
                with os.scandir(content_store) as entries:
                    single = [each.path for each in entries if each.stat().st_nlink == 1]
                yield from map(Path, single)

    def _content(self, sha256: str) -> Path:
        return self._store / sha256[:2] / sha256[2:]

    def _stored(self, file: Path, content: Path, sha256: str) -> bool:
        """Whether the content is new. One that was changed under its hash gives way."""
        while True:
            try:
                os.link(file, content)
            except FileNotFoundError:
                file.stat()  # it may be this one that is gone
                self._store.mkdir(exist_ok=True)
                content.parent.mkdir(exist_ok=True)
            except FileExistsError:
                if _same(content, file, sha256):
                    return False
                content.unlink(missing_ok=True)
            else:
                return True

    def _named(self, file: Path, content: Path, sha256: str, name: str) -> str:
        for each in _names(name, sha256):
            target = self._root / each
            try:
                self._link(file, content, target, sha256)
            except FileExistsError:
                if not _same(target, file, sha256):
                    continue
            return each
        raise FileTrouble(f"every name like {name} is taken by another file")

    def _link(self, file: Path, content: Path, target: Path, sha256: str) -> None:
        try:
            os.link(content, target)
        except FileNotFoundError:
            # Somebody tidied it away a moment ago, as nothing led to it.
            self._stored(file, content, sha256)
            os.link(content, target)

    def _moved(self, file: Path, sha256: str, name: str) -> str:
        with self._alone():
            for each in _names(name, sha256):
                target = self._root / each
                if not os.path.lexists(target):
                    file.rename(target)
                elif not _same(target, file, sha256):
                    continue
                return each
        raise FileTrouble(f"every name like {name} is taken by another file")

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Without links, looking and moving are two steps, which others may not come between."""
        number = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(number, fcntl.LOCK_EX)
            yield
        finally:
            os.close(number)


def _names(name: str, sha256: str) -> tuple[str, ...]:
    """The marks come from the content, so that the same files get the same names in any run."""
    return name, marked(name, sha256[:8]), marked(name, sha256), sha256


def _same(target: Path, file: Path, sha256: str) -> bool:
    """Whether what is there already has the content of the new file."""
    try:
        there, new = target.lstat(), file.stat()
        if os.path.samestat(there, new):
            return True
        if there.st_size != new.st_size or not stat.S_ISREG(there.st_mode):
            return False
        with target.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest() == sha256
    except FileNotFoundError:
        return False
