"""Finished files: each content is stored once under its hash, and readable names link to it."""

import errno
import fcntl
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headgate.core.download_folder import name_with_mark
from headgate.ports.artifacts import FileTrouble

STORE = ".headgate-store"

_NO_LINKS = {
    errno.EPERM,
    errno.EOPNOTSUPP,
    errno.ENOSYS,
    errno.EXDEV,
    errno.EMLINK,
}
"""Errors of a file system without hard links, or without room for one more link."""


class ContentStore:
    """Puts complete files into a folder. An existing name is never replaced.

    Every step is atomic in the file system, and the folder is valid after each of them: at
    worst the store has a content without a name.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._store = root / STORE

    def place(self, file: Path, sha256: str, name: str) -> tuple[str, bool]:
        """Return the file's final name, and whether its content was in the store before.

        `file` stays where it is, unless the file system has no hard links: then it is moved.
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
        """Folders with names of this content. Without hard links, only the root."""
        content_store = self._content(sha256).parent
        return [self._root, content_store] if content_store.is_dir() else [self._root]

    def unnamed(self) -> Iterator[Path]:
        """Contents that no name links to."""
        if self._store.is_dir():
            for content_store in self._store.iterdir():
                with os.scandir(content_store) as entries:
                    single = [each.path for each in entries if each.stat().st_nlink == 1]
                yield from map(Path, single)

    def _content(self, sha256: str) -> Path:
        return self._store / sha256[:2] / sha256[2:]

    def _stored(self, file: Path, content: Path, sha256: str) -> bool:
        """True if the content is new. Stored content that does not match its hash is replaced."""
        while True:
            try:
                os.link(file, content)
            except FileNotFoundError:
                file.stat()  # raises if this is the missing file
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
            # A cleanup removed the content a moment ago, as no name linked to it.
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
        """Without links, checking and moving are two steps: the lock makes them one."""
        number = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(number, fcntl.LOCK_EX)
            yield
        finally:
            os.close(number)


def _names(name: str, sha256: str) -> tuple[str, ...]:
    """Suffixes are derived from the content, so the same file gets the same name in any run."""
    return name, name_with_mark(name, sha256[:8]), name_with_mark(name, sha256), sha256


def _same(target: Path, file: Path, sha256: str) -> bool:
    """True if `target` has the same content as the new file."""
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


def tidy_store(root: Path) -> int:
    """Remove contents that no name links to; return their number."""
    removed = 0
    for content in ContentStore(root).unnamed():
        content.unlink(missing_ok=True)
        removed += 1
    return removed
