"""Finds a mirror, and the source as its last pass had it."""

from headgate.app.extract.opening import OpenedSource, SourceChanges, opened
from headgate.core.errors import UsageError
from headgate.core.job import LOCAL_OWNER
from headgate.engine.passes import Passes
from headgate.handlers.extract.handler import SET, SOURCE
from headgate.ports.clock import Clock
from headgate.ports.mirrors import Checkpoint, Mirror
from headgate.ports.store import Store

LOOKED_AT = 50
"""Passes that are searched for the newest state of a stream."""


async def chosen_mirror(store: Store, name: str | None, owner: str = LOCAL_OWNER) -> Mirror:
    """The mirror of that name, or the only one; UsageError names the others."""
    mirrors = await store.mirrors.mirrors(owner)
    if not mirrors:
        raise UsageError("there is no mirror yet: `headgate extract SOURCE` makes one")
    names = ", ".join(each.name for each in mirrors)
    if name is None and len(mirrors) > 1:
        raise UsageError(f"there are several mirrors, name one of them: {names}")
    for each in mirrors:
        if name in {None, each.name}:
            return each
    raise UsageError(f"there is no mirror {name!r}; there are {names}")


async def source_of(store: Store, clock: Clock, mirror: Mirror) -> OpenedSource:
    """The source of a mirror, with the values that its last pass had."""
    job = await Passes(store, clock).last(mirror)
    config = job.config if job is not None else {SOURCE: mirror.source}
    return opened(config[SOURCE], mirror.name, SourceChanges(config.get(SET, {})))


async def newest_checkpoints(store: Store, mirror: Mirror) -> dict[str, Checkpoint]:
    """The state of each stream in the newest pass that listed it."""
    found: dict[str, Checkpoint] = {}
    for job_id in await store.mirrors.passes(mirror.id, None, LOOKED_AT):
        for each in await store.mirrors.checkpoints(job_id):
            found.setdefault(each.stream, each)
    return found
