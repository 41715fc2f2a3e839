"""New files in a folder that somebody else fills: which are complete, and may be taken.

A file that is still being written must not be taken. Buckets show whole objects alone. Elsewhere
a file is complete when it was found unchanged for a while, or when it was last written so long ago
that even a wrong clock of its server makes no difference.
"""

from fnmatch import fnmatchcase
from typing import Final, NamedTuple

import msgspec

from headgate.core.bounds import Patience
from headgate.ports.place import FoundFile, Place
from headgate.transfer.places.opening import is_on_disk

_UNFINISHED: Final = (".part", ".partial", ".filepart", ".crdownload", ".tmp", ".temp", "~")
"""How programs name what they have not finished writing."""


class WatchSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A folder in which files arrive."""

    place: str
    """The folder: `folder:/data/in`, `s3://BUCKET/PREFIX`, `ftp://HOST/in` or `sftp://HOST/in`."""
    pattern: str = "*"
    """Which names count, as a shell would read it: `orders-*.csv`."""
    settle_s: Patience = 60.0
    """How long a file must not have changed before it is taken."""
    skew_s: Patience = 900.0
    """How wrong the clock of an FTP or SFTP server may be."""


class _Sighting(NamedTuple):
    identity: str
    size: int | None
    first_at: int


class Sightings:
    """What was seen of a folder, and since when it has been so. Keep one for each folder.

    Without it, as after a restart, nothing is lost: young files only wait for another look.
    """

    def __init__(self) -> None:
        self._seen: dict[str, _Sighting] = {}

    def note(self, found: list[FoundFile], now: int) -> None:
        """Remember a look; what is gone is forgotten, what has changed begins anew."""
        before, self._seen = self._seen, {}
        for one in found:
            old = before.get(one.url)
            same = old is not None and (old.identity, old.size) == (one.identity, one.size)
            first_at = old.first_at if old is not None and same else now
            self._seen[one.url] = _Sighting(one.identity, one.size, first_at)

    def unchanged_s(self, found: FoundFile, now: int) -> float:
        """For how long a file has been seen as it is."""
        return (now - self._seen[found.url].first_at) / 1_000_000


def arrivals(
    place: Place, settings: WatchSettings, sightings: Sightings, now: int
) -> list[FoundFile]:
    """The complete files of a folder, by name; `now` is in UTC microseconds.

    They are given at every look, as long as they are there: whoever takes them must know the
    `identity` of those that were taken.
    """
    found = [one for one in place.files(settings.place) if is_wanted(one.name, settings.pattern)]
    sightings.note(found, now)
    return [one for one in found if is_settled(one, settings, sightings, now)]


def is_wanted(name: str, pattern: str) -> bool:
    """Whether a name counts: hidden and unfinished ones only if the pattern asks for them."""
    if name.startswith(".") and not pattern.startswith("."):
        return False
    if name.lower().endswith(_UNFINISHED) and not pattern.lower().endswith(_UNFINISHED):
        return False
    return fnmatchcase(name, pattern)


def is_settled(found: FoundFile, settings: WatchSettings, sightings: Sightings, now: int) -> bool:
    """Whether nobody writes to a file any more."""
    if found.whole or settings.settle_s == 0:
        return True
    unchanged_s = sightings.unchanged_s(found, now)
    if unchanged_s >= settings.settle_s:
        return True
    if found.modified_at is None:
        return False
    age_s = (now - found.modified_at) / 1_000_000
    return age_s >= settings.settle_s + (0 if is_on_disk(found.url) else settings.skew_s)
