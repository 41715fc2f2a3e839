"""New files in configured places become jobs: one for each file, each file once."""

import asyncio
from collections.abc import Sequence

import msgspec

from headgate.app.reading import Reading
from headgate.app.settings import Settings
from headgate.core.errors import BadSetting, HeadgateError
from headgate.core.job import LOCAL_OWNER, NewJob, Once
from headgate.core.secret import without_secrets
from headgate.ports.clock import Clock
from headgate.ports.place import Found
from headgate.ports.store import Store
from headgate.transfer.places.listing import Watched, Watcher
from headgate.transfer.places.opening import open_place

ARRIVAL = "arrival:"
"""How the key of a job begins that was made for a file; such keys are kept for ever."""


class Scan(msgspec.Struct):
    """What a look at all places found."""

    made: list[tuple[str, int]] = []
    known: int = 0
    problems: list[str] = []


class Scanner:
    """Looks at the places that the settings name."""

    def __init__(self, store: Store, settings: Settings, clock: Clock) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._watched = [watched_in(text) for text in settings.server.watch]
        self._watcher = Watcher()

    async def scan(self) -> Scan:
        """Look once; a place that does not answer is a problem, not the end."""
        scan = Scan()
        for handler, place in self._watched:
            try:
                for found in await asyncio.to_thread(self._arrivals, place):
                    await self._take(handler, found, scan)
            except HeadgateError as error:
                scan.problems.append(f"{without_secrets(place)}: {error}")
        if scan.made:
            await self._store.notifier.ring()
        return scan

    def _arrivals(self, place: str) -> Sequence[Found]:
        return self._watcher.arrivals(
            open_place(place, self._settings.places), Watched(place), self._clock.now()
        )

    async def _take(self, handler: str, found: Found, scan: Scan) -> None:
        once = Once(f"{ARRIVAL}{found.identity}", found.identity)
        new = NewJob(
            handler=handler,
            source=found.url,
            name=f"{handler} {found.name}",
            owner=LOCAL_OWNER,
            reading=msgspec.to_builtins(Reading()),
            file=found.name,
            once=once,
        )
        made = await self._store.jobs.create_job_once(new)
        if made is None:
            scan.known += 1
        else:
            scan.made.append((found.shown, made.id))


def watched_in(text: str) -> tuple[str, str]:
    """Handler and place in `HANDLER=PLACE`."""
    handler, equals, place = text.partition("=")
    if not equals or not handler.strip() or not place.strip():
        raise BadSetting(f"server.watch: {text!r} should be HANDLER=PLACE")
    return handler.strip(), place.strip()
