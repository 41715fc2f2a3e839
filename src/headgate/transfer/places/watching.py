"""New files in a folder that another program fills: which are complete and may be taken.

A file that is still being written must not be taken. Buckets show only complete objects.
Elsewhere a file is complete if it has not changed for a while, or if it was last written
longer ago than any error of its server's clock.
"""

from fnmatch import fnmatchcase
from typing import Final, NamedTuple

import msgspec

from headgate.core.bounds import Patience
from headgate.ports.source import FoundFile, Place
from headgate.transfer.places.opening import is_on_disk

_UNFINISHED: Final = (".part", ".partial", ".filepart", ".crdownload", ".tmp", ".temp", "~")
"""Endings of files that other programs are still writing."""


class WatchSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of a folder that is watched for new files."""

    place: str
    """The folder: `folder:/data/in`, `s3://BUCKET/PREFIX`, `ftp://HOST/in` or `sftp://HOST/in`."""
    pattern: str = "*"
    """Shell pattern of the file names that count: `orders-*.csv`."""
    settle_s: Patience = 60.0
    """Seconds without a change before a file is taken."""
    skew_s: Patience = 900.0
    """Largest error of an FTP or SFTP server's clock, in seconds."""


class _Sighting(NamedTuple):
    identity: str
    size: int | None
    first_at: int


class Sightings:
    """The files seen in a folder, and since when each is unchanged. Keep one for each folder.

    Losing it, as in a restart, is safe: young files only wait for another look.
    """

    def __init__(self) -> None:
        self._seen: dict[str, _Sighting] = {}

    def note(self, found: list[FoundFile], now: int) -> None:
        """Record a listing: missing files are dropped, changed ones start again."""
        before, self._seen = self._seen, {}
        for one in found:
            old = before.get(one.url)
            same = old is not None and (old.identity, old.size) == (one.identity, one.size)
            first_at = old.first_at if old is not None and same else now
            self._seen[one.url] = _Sighting(one.identity, one.size, first_at)

    def unchanged_s(self, found: FoundFile, now: int) -> float:
        """Seconds since the file was first seen in its present state."""
        return (now - self._seen[found.url].first_at) / 1_000_000


def arrivals(
    place: Place, settings: WatchSettings, sightings: Sightings, now: int
) -> list[FoundFile]:
    """The complete files of a folder, sorted by URL; `now` is in UTC microseconds.

    Every call returns them as long as they exist: the caller must remember the
    `identity` of the files it has taken.
    """
    found = [one for one in place.files(settings.place) if is_wanted(one.name, settings.pattern)]
    sightings.note(found, now)
    return [one for one in found if is_settled(one, settings, sightings, now)]


def is_wanted(name: str, pattern: str) -> bool:
    """True if a name counts: hidden and unfinished files only if the pattern asks for them."""
    if name.startswith(".") and not pattern.startswith("."):
        return False
    if name.lower().endswith(_UNFINISHED) and not pattern.lower().endswith(_UNFINISHED):
        return False
    return fnmatchcase(name, pattern)


def is_settled(found: FoundFile, settings: WatchSettings, sightings: Sightings, now: int) -> bool:
    """True if the file is certainly complete."""
    if found.whole or settings.settle_s == 0:
        return True
    unchanged_s = sightings.unchanged_s(found, now)
    if unchanged_s >= settings.settle_s:
        return True
    if found.modified_at is None:
        return False
    age_s = (now - found.modified_at) / 1_000_000
    return age_s >= settings.settle_s + (0 if is_on_disk(found.url) else settings.skew_s)
