"""Find, list and copy files over any protocol, with the same limits and messages for all."""

import socket
import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from time import monotonic

from headgate.core.body_limits import PaceMeter
from headgate.core.errors import BadSource, SourceUnreachable
from headgate.core.redact_values import without_secrets
from headgate.ports.source import CopiedFile, FoundFile, Progress
from headgate.transfer.places.driver import BLOCK, Driver, Opening
from headgate.transfer.places.partial import PartialCopy, discard
from headgate.transfer.places.settings import PlaceSettings
from headgate.transfer.places.sockets import GuardedSockets, too_slow


class DriverPlace:
    """Reads files through a driver that `connect` creates for each request."""

    def __init__(
        self, connect: Callable[[GuardedSockets], Driver], settings: PlaceSettings
    ) -> None:
        self._connect = connect
        self._settings = settings

    def stat(self, url: str) -> FoundFile:
        with (
            GuardedSockets(self._settings, self._settings.look_s) as dialer,
            as_source_errors(url, dialer),
        ):
            return self._connect(dialer).find(url)

    def files(self, url: str) -> Sequence[FoundFile]:
        most = self._settings.max_files
        with (
            GuardedSockets(self._settings, self._settings.look_s) as dialer,
            as_source_errors(url, dialer),
        ):
            found = [*islice(self._connect(dialer).files(url), most + 1)]
            if len(found) > most:
                raise too_many(most)
            return sorted(found, key=lambda one: one.url)

    def fetch(
        self,
        url: str,
        target: Path,
        *,
        limit_bytes: int | None = None,
        on_progress: Progress | None = None,
    ) -> CopiedFile:
        """Copy the file to `target`, continuing where an earlier attempt ended."""
        limit = min(limit_bytes or self._settings.max_bytes, self._settings.max_bytes)
        try:
            with PartialCopy(target) as part:
                return self._copied(url, target, part, _CopyLimits(limit, on_progress))
        except _TooLarge:
            discard(target)
            raise

    def discard(self, target: Path) -> None:
        discard(target)

    def _copied(
        self, url: str, target: Path, part: PartialCopy, watch: "_CopyLimits"
    ) -> CopiedFile:
        with (
            GuardedSockets(self._settings, self._settings.fetch_s) as dialer,
            as_source_errors(url, dialer),
        ):
            driver = self._connect(dialer)
            with driver.open(url, part.kept()) as opening:
                _copy(opening, part, watch, dialer)
            dialer.check()
            _check(opening, part.size)
            part.complete()
            return CopiedFile(opening.found, target, part.size, opening.offset)


class _TooLarge(BadSource):
    """The source exceeds the size limit."""


class _CopyLimits:
    """Checks the size limit and reports progress."""

    def __init__(self, limit: int, on_progress: Progress | None) -> None:
        self._limit = limit
        self._on_progress = on_progress

    def check(self, size: int | None, found: FoundFile) -> None:
        if size is not None and size > self._limit:
            raise _TooLarge(
                f"{found.shown} is larger than the {self._limit:,} bytes that a source may have"
            )

    def tell(self, size: int, found: FoundFile) -> None:
        self.check(size, found)
        if self._on_progress is not None:
            self._on_progress(size, found.size)


def _copy(opening: Opening, part: PartialCopy, watch: _CopyLimits, dialer: GuardedSockets) -> None:
    found = opening.found
    watch.check(found.size, found)
    part.begin(found.version, opening.offset)
    for piece in _paced(opening, dialer):
        watch.check(part.size + len(piece), found)
        part.write(piece)
        watch.tell(part.size, found)


def _paced(opening: Opening, dialer: GuardedSockets) -> Iterator[bytes]:
    """The pieces; SourceUnreachable if they arrive too slowly."""
    minimum = dialer.settings.minimum_pace
    meter = PaceMeter(minimum)
    while True:
        # A protocol may collect small replies into a block; they are not visible until then.
        dialer.expect_piece(minimum.longest_wait_s(BLOCK))
        asked_s = monotonic()
        piece = next(opening.pieces, b"")
        if not piece:
            dialer.expect_piece(float("inf"))
            return
        meter.count(monotonic() - asked_s, len(piece))
        dialer.check()
        if meter.too_slow:
            raise SourceUnreachable(f"{opening.found.shown} {too_slow(minimum)}")
        yield piece


def _check(opening: Opening, size: int) -> None:
    """Check that the copy is complete and from a single version."""
    found = opening.found
    if found.size is not None and size != found.size:
        raise SourceUnreachable(
            f"{found.shown} ended after {size:,} of {found.size:,} bytes:"
            " it was cut off, or changed while it was copied"
        )
    if opening.version_now is None:
        return
    try:
        version = opening.version_now()
    except FileNotFoundError:
        raise BadSource(f"{found.shown} was removed while it was copied") from None
    if version != found.version:
        raise SourceUnreachable(f"{found.shown} changed while it was copied; try again")


def too_many(most: int) -> BadSource:
    return BadSource(
        f"the folder contains more than {most:,} files (places.max_files);"
        " move finished files elsewhere"
    )


@contextmanager
def as_source_errors(url: str, dialer: GuardedSockets) -> Iterator[None]:
    """Turn an OSError about `url` into BadSource, or SourceUnreachable if it may be temporary.

    Every driver reports failures as OSErrors.
    """
    try:
        yield
        dialer.check()
    except OSError as error:
        # Without the cause: a library's message may contain the whole URL with its secrets.
        raise source_error(error, without_secrets(url), dialer) from None


def source_error(error: OSError, place: str, dialer: GuardedSockets) -> BadSource:
    if dialer.expired:
        return SourceUnreachable(f"{place} {dialer.over}")
    match error:
        case FileNotFoundError():
            return BadSource(f"{place} does not exist")
        case IsADirectoryError():
            return BadSource(f"{place} is a folder, not a file")
        case NotADirectoryError():
            return BadSource(f"{place} is a file, not a folder")
        case PermissionError():
            return BadSource(f"{place} may not be read: {_reason(error, 'access was denied')}")
        case ssl.SSLCertVerificationError():
            return BadSource(f"the certificate of {place} is not trusted: {error.verify_message}")
        case ssl.SSLError():
            return SourceUnreachable(f"no secure connection to {place}: {error.reason}")
        case socket.gaierror():
            return SourceUnreachable(f"no address is known for {place}")
        case TimeoutError():
            return SourceUnreachable(f"{place} did not answer in time")
        case _:
            return SourceUnreachable(f"{place} cannot be read: {_reason(error, 'it failed')}")


def _reason(error: OSError, otherwise: str) -> str:
    return error.strerror or (str(error.args[0]) if error.args else otherwise)
