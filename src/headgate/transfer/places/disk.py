"""Files and folders of this machine, limited to the folders that may be read."""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

from headgate.core.errors import BadSource
from headgate.ports.source import FoundFile
from headgate.transfer.places.address import checked, is_plain, plain_name
from headgate.transfer.places.driver import BLOCK, KeptCopy, Opening, start_of


class DiskDriver:
    """Reads `file:` URLs, `folder:` names and plain paths; `roots` None means no limit."""

    def __init__(self, roots: Sequence[str] | None) -> None:
        self._roots = None if roots is None else [Path(root).resolve() for root in roots]

    def require_allowed(self, url: str) -> None:
        """Raise BadSource if the file may not be read, whether it exists or not."""
        self._allowed(path_of(url), named_in(url))

    def find(self, url: str) -> FoundFile:
        path = path_of(url)
        number = self._opened(path, named_in(url))
        try:
            return _found(path, os.fstat(number))
        finally:
            os.close(number)

    def files(self, url: str) -> Iterator[FoundFile]:
        """The files of a folder; links are followed only to allowed folders."""
        folder = path_of(url)
        real, _ = self._allowed(folder, named_in(url))
        with os.scandir(real) as entries:
            names = [entry.name for entry in entries if is_plain(entry.name)]
        for name in names:
            found = self._listed(folder / name)
            if found is not None:
                yield found

    @contextmanager
    def open(self, url: str, kept: KeptCopy) -> Iterator[Opening]:
        path = path_of(url)

        def version_now() -> str:
            return self.find(url).version

        number = self._opened(path, named_in(url))
        with os.fdopen(number, "rb", buffering=0) as file:
            found = _found(path, os.fstat(number))
            offset = file.seek(start_of(found, kept))
            yield Opening(found, offset, iter(lambda: file.read(BLOCK), b""), version_now)

    def _listed(self, path: Path) -> FoundFile | None:
        try:
            real, _ = self._allowed(path, path.name)
            what = real.stat()
        except (BadSource, OSError):
            return None  # it points outside, or was removed a moment ago
        return _found(path, what) if stat.S_ISREG(what.st_mode) else None

    def _allowed(self, path: Path, named: str) -> tuple[Path, Path]:
        """The path without links, and the root that allows it.

        A refusal shows only `named`: clients must not learn the server's paths.
        """
        # Not strict, so that a refusal does not reveal which files exist outside.
        real = path.resolve()
        if self._roots is None:
            return real, Path(real.anchor)
        for root in self._roots:
            if real.is_relative_to(root):
                return real, root
        raise BadSource(
            f"{named} is outside the folders that sources may be read from (places.roots)"
        )

    def _opened(self, path: Path, named: str) -> int:
        real, root = self._allowed(path, named)
        number = _open_beneath(root, real.relative_to(root).parts)
        mode = os.fstat(number).st_mode
        if stat.S_ISREG(mode):
            return number
        os.close(number)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError
        raise BadSource(f"{named} is not a regular file")


def path_of(url: str) -> Path:
    return Path(named_in(url)).absolute()


def named_in(url: str) -> str:
    """The path as it was given: a relative path stays relative."""
    scheme, _, rest = checked(url).partition(":")
    match scheme.lower():
        case "folder":
            return rest
        case "file":
            return checked(_from_file_url(url, rest))
        case _:
            return url


def _from_file_url(url: str, rest: str) -> str:
    machine = urlsplit(url).netloc
    if machine not in {"", "localhost"}:
        raise BadSource(f"{url} refers to another machine; file: URLs begin with file:///")
    return unquote(rest.removeprefix(f"//{machine}"))


def _open_beneath(root: Path, names: Iterable[str]) -> int:
    """Open step by step without following links: a link created since the check is not checked."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    number = os.open(root, os.O_RDONLY | os.O_CLOEXEC)
    for name in names:
        try:
            inner = os.open(name, flags, dir_fd=number)
        finally:
            os.close(number)
        number = inner
    return number


def _found(path: Path, what: os.stat_result) -> FoundFile:
    return FoundFile(
        path.as_uri(),
        plain_name(path.name),
        what.st_size,
        f"{what.st_mtime_ns}-{what.st_size}",
        what.st_mtime_ns // 1000,
    )
