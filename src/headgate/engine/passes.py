"""Begins a pass over a mirror, or resumes the one that was interrupted."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from headgate.core.errors import IllegalMove, UnknownJob, UsageError
from headgate.core.identity import VERSION
from headgate.core.job import LOCAL_OWNER, Binding, Job, NewJob, OwnerCaps
from headgate.core.mirror import PassMode, Proof
from headgate.core.status import UNFINISHED, ItemStatus, JobState
from headgate.engine.job_control import OPERATOR, JobControl
from headgate.ports.clock import Clock
from headgate.ports.items import RequeueRequest
from headgate.ports.mirrors import (
    Checkpoint,
    Mirror,
    PassPlan,
    PassRequest,
    PassWish,
    PlanPass,
    Stream,
    StreamState,
)
from headgate.ports.store import Store

MICROSECONDS = 1_000_000
LOOKED_AT = 50
"""Passes that are searched at a time for the last full one."""
FAILED = frozenset({ItemStatus.ERROR})


class PassSource(msgspec.Struct, frozen=True):
    """A source that can be passed over."""

    mirror: str
    """The name of its mirror."""
    tree: Mapping[str, Any]
    """Its description, without secrets."""
    digest: str
    handler: str
    config: Mapping[str, Any]
    """The config of the handler's job."""
    plan: PlanPass
    resume_within_s: float = 86_400.0
    """How old an interrupted pass may be to be resumed."""


class PassOrder(msgspec.Struct, frozen=True):
    """Who asks for which pass."""

    wish: PassWish = PassWish()
    owner: str = LOCAL_OWNER
    by: str = OPERATOR
    """The user in words, for the record."""
    new: bool = False
    """Give an interrupted pass up, instead of resuming it."""
    priority: int = 0
    caps: OwnerCaps = OwnerCaps()
    client: str = ""
    """The address of the user, for the record."""


class BegunPass(msgspec.Struct, frozen=True):
    job: Job
    is_resumed: bool = False
    retried: int = 0
    """Failed pages that are tried again."""
    given_up: int | None = None
    """The interrupted pass that was cancelled, and `reason` says why."""
    reason: str = ""
    has_changed: bool = False
    """The source is described differently than before, so everything is listed."""


class Passes:
    """The passes of the mirrors in a store. A mirror has one unfinished pass at a time."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._control = JobControl(store)

    async def plan(self, source: PassSource, order: PassOrder) -> PassPlan:
        """The pass that would begin now, if none is unfinished; nothing is stored."""
        mirror = await self._store.mirrors.mirror(order.owner, source.mirror)
        return source.plan(await self._states(mirror, source), self._dated(order.wish))

    async def begin(self, source: PassSource, order: PassOrder) -> BegunPass:
        """Resume the interrupted pass of a mirror, or begin a new one.

        UsageError if another pass of the mirror is at work, or was interrupted and is not what
        the order asks for.
        """
        mirror = await self._store.mirrors.mirror(order.owner, source.mirror)
        last = await self.last(mirror) if mirror else None
        given_up, reason = None, ""
        if last is not None and await self._is_interrupted(last):
            reason = self._refusal(last, source, order)
            if not reason:
                return await self._resume(last, source, order)
            await self._give_up(last, order, reason)
            given_up = last.id
        changed = mirror is not None and mirror.digest != source.digest
        plan = source.plan(await self._states(mirror, source), self._dated(order.wish))
        job = await self._store.mirrors.begin_pass(_request(source, order, plan))
        if job.made_before:  # another process began one at this moment
            return await self._resume(job, source, order)
        await self._store.notifier.ring()
        return BegunPass(job, given_up=given_up, reason=reason, has_changed=changed)

    async def last(self, mirror: Mirror) -> Job | None:
        """The newest pass of a mirror whose job is still stored."""
        for job_id in await self._store.mirrors.passes(mirror.id, None, 1):
            try:
                return await self._store.reads.job(job_id)
            except UnknownJob:  # it was deleted; its checkpoints remain
                return None
        return None

    async def _is_interrupted(self, job: Job) -> bool:
        """Whether some stream is not complete; a cancelled pass was ended on purpose."""
        if job.state in UNFINISHED:
            return True
        if job.state is JobState.CANCELLED:
            return False
        checkpoints = await self._store.mirrors.checkpoints(job.id)
        return any(each.completed_at is None for each in checkpoints)

    def _refusal(self, job: Job, source: PassSource, order: PassOrder) -> str:
        """Why an interrupted pass is not resumed; empty: it is."""
        if order.new:
            return "a new pass was asked for"
        if (job.options or {}).get(VERSION) != source.digest:
            return "the description of the source has changed"
        age_s = (self._clock.now() - job.updated_at) / MICROSECONDS
        if age_s > source.resume_within_s:
            return f"it was interrupted more than {source.resume_within_s / 3_600:g} hours ago"
        return ""

    async def _resume(self, job: Job, source: PassSource, order: PassOrder) -> BegunPass:
        wished, stored = _wished(order.wish), dict(job.options or {})
        stored.pop(VERSION, None)
        # Without any wish, the interrupted pass is continued as it was asked for.
        if wished and wished != stored:
            raise UsageError(
                f"pass {job.id} of {source.mirror} was interrupted, and was asked for"
                f" {_in_words(stored)}: resume it with the same options, or add --new to give it up"
            )
        if job.config != source.config:  # for example another rate; the rows are the same
            binding = Binding(job.handler, job.source, source.config, job.options)
            job = await self._store.jobs.rebind_job(job.id, binding)
        request = RequeueRequest(job.id, FAILED, reset_attempts=True)
        retried = await self._control.reprocess(request, order.by) if await self._failed(job) else 0
        job = await self._store.reads.job(job.id)
        return BegunPass(job, is_resumed=True, retried=retried)

    async def _failed(self, job: Job) -> int:
        return (await self._store.reads.counts(job.id)).error

    async def _give_up(self, job: Job, order: PassOrder, reason: str) -> None:
        """Cancel an interrupted pass; UsageError if some worker is at it."""
        if job.state not in UNFINISHED:
            return
        if (await self._store.situations.of(job.id)).workers:
            raise UsageError(
                f"pass {job.id} is at work, and a mirror has one pass at a time ({reason}): wait"
                f" for its end, or cancel it with `headgate extract cancel {job.id}`"
            )
        try:
            await self._control.cancel(job.id, order.by, reason)
        except IllegalMove:  # it has just ended
            return

    async def _states(self, mirror: Mirror | None, source: PassSource) -> dict[str, StreamState]:
        """What is known of each stream; nothing if the source is described differently now."""
        if mirror is None or mirror.digest != source.digest:
            return {}
        streams = await self._store.mirrors.streams(mirror.id)
        ends = await self._full_ends(mirror, streams)
        # A stamp says what has changed since a full listing, so it means nothing without one.
        return {
            each.name: StreamState(each.watermark, ends[each.name])
            if each.name in ends
            else StreamState()
            for each in streams
        }

    async def _full_ends(self, mirror: Mirror, streams: Sequence[Stream]) -> dict[str, int]:
        """When each stream was last listed in full, with a proof, as it is described now."""
        found: dict[str, int] = {}
        for job_id in {each.full_pass for each in streams if each.full_pass}:
            if await self._is_described(job_id, mirror):
                found |= await self._full_ends_of(job_id)
        # A stream without deletions has no mark of its last full pass.
        names, before = {each.name for each in streams}, None
        while not found.keys() >= names:
            passes = await self._store.mirrors.passes(mirror.id, before, LOOKED_AT)
            for before in passes:
                if not await self._is_described(before, mirror):
                    return found
                found = await self._full_ends_of(before) | found
            if not passes:
                return found
        return found

    async def _full_ends_of(self, job_id: int) -> dict[str, int]:
        checkpoints = await self._store.mirrors.checkpoints(job_id)
        ends = {each.stream: _full_end(each) for each in checkpoints}
        return {name: end for name, end in ends.items() if end is not None}

    async def _is_described(self, job_id: int, mirror: Mirror) -> bool:
        """Whether a pass had the present description of the source; a deleted job may have."""
        try:
            job = await self._store.reads.job(job_id)
        except UnknownJob:
            return True
        return (job.options or {}).get(VERSION) == mirror.digest

    def _dated(self, wish: PassWish) -> PassWish:
        return wish._replace(now=self._clock.now())


def _full_end(checkpoint: Checkpoint) -> int | None:
    """When a full listing was complete; None if it was not, or was not proven so."""
    is_full = checkpoint.mode is PassMode.FULL
    return checkpoint.completed_at if is_full and checkpoint.proof is not Proof.UNPROVEN else None


def _request(source: PassSource, order: PassOrder, plan: PassPlan) -> PassRequest:
    job = NewJob(
        handler=source.handler,
        source=f"mirror:{source.mirror}",
        name=f"{source.handler} {source.mirror}",
        owner=order.owner,
        config=source.config,
        priority=order.priority,
        caps=order.caps,
        client=order.client,
        options={VERSION: source.digest, **_wished(order.wish)},
    )
    return PassRequest(source.mirror, source.tree, source.digest, job, plan.checkpoints, plan.items)


def _wished(wish: PassWish) -> dict[str, Any]:
    """What was asked for beyond the usual, as it is stored with the job."""
    asked = {"streams": sorted(wish.streams), "full": wish.full, "since": wish.since}
    return {name: value for name, value in asked.items() if value}


def _in_words(wished: Mapping[str, Any]) -> str:
    streams = ", ".join(wished.get("streams", ())) or "all streams"
    full = " with --full" if wished.get("full") else ""
    since = f" with --since {wished['since']}" if wished.get("since") else ""
    return f"{streams}{full}{since}"
