"""Create a job for each new file in the watched places; each file is taken once."""

import asyncio
from pathlib import PurePosixPath

import msgspec

from headgate.app.ingest_options import IngestOptions
from headgate.app.settings import Settings
from headgate.core.errors import BadSetting, HeadgateError, KeyReused
from headgate.core.job import ARRIVAL, LOCAL_OWNER, NewJob, Once
from headgate.core.redact_values import without_secrets
from headgate.ports.clock import Clock
from headgate.ports.source import FoundFile
from headgate.ports.store import Store
from headgate.transfer.places.opening import open_place
from headgate.transfer.places.watching import Sightings, WatchSettings, arrivals


class Scan(msgspec.Struct):
    made: list[tuple[str, int]] = []
    """Files that became jobs, each with the id of its job."""
    known: int = 0
    problems: list[str] = []


class _WatchedPlace(msgspec.Struct, frozen=True):
    """A watched folder, and the handler for its files."""

    handler: str
    folder: WatchSettings
    sightings: Sightings


class Scanner:
    def __init__(self, store: Store, settings: Settings, clock: Clock) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        settle_s = settings.server.watch_settle_s
        self._watches = [_watch_in(text, settle_s) for text in settings.server.watch]

    async def scan(self, *, settle: bool = False) -> Scan:
        """Scan once; with `settle` twice, so that a file that just arrived is taken, too.

        A place that does not answer is reported as a problem; the scan continues.
        """
        if settle and self._watches:
            await self._scan_places(_Sink())
            await self._clock.sleep(self._settings.server.watch_settle_s)
        scan = _Sink()
        await self._scan_places(scan)
        for handler, found in scan.found:
            await self._take(handler, found, scan.scan)
        if scan.scan.made:
            await self._store.notifier.ring()
        return scan.scan

    async def _scan_places(self, sink: "_Sink") -> None:
        for watch in self._watches:
            try:
                arrived = await asyncio.to_thread(self._arrivals, watch)
            except HeadgateError as error:
                sink.scan.problems.append(f"{without_secrets(watch.folder.place)}: {error}")
            else:
                sink.found += [(watch.handler, found) for found in arrived]

    def _arrivals(self, watch: _WatchedPlace) -> list[FoundFile]:
        place = open_place(watch.folder.place, self._settings.places)
        return arrivals(place, watch.folder, watch.sightings, self._clock.now())

    async def _take(self, handler: str, found: FoundFile, scan: Scan) -> None:
        new = NewJob(
            handler=handler,
            source=found.url,
            name=f"{handler} {found.name}",
            owner=LOCAL_OWNER,
            reading=msgspec.to_builtins(IngestOptions()),
            file=found.name,
            once=Once(f"{ARRIVAL}{found.identity}"),
        )
        try:
            job = await self._store.jobs.create_job(new)
        except KeyReused:  # its job was deleted; the file is still not taken again
            scan.known += 1
            return
        if job.made_before:
            scan.known += 1
        else:
            scan.made.append((found.shown, job.id))


class _Sink(msgspec.Struct):
    """Results collected in one scan."""

    scan: Scan = msgspec.field(default_factory=Scan)
    found: list[tuple[str, FoundFile]] = []


def _watch_in(text: str, settle_s: float) -> _WatchedPlace:
    """Handler, folder and pattern of `HANDLER=PLACE`, where the place may end in a pattern."""
    handler, equals, place = (part.strip() for part in text.partition("="))
    if not equals or not handler or not place:
        raise BadSetting(f"server.watch: {text!r} should be HANDLER=PLACE")
    pattern = "*"
    last = PurePosixPath(place).name
    if any(sign in last for sign in "*?["):
        place, pattern = place[: -len(last)].rstrip("/"), last
    return _WatchedPlace(handler, WatchSettings(place, pattern, settle_s), Sightings())
