"""Mirrors as values of `headgate.schema`, for the commands on a store and for the API."""

import asyncio
from collections.abc import Sequence

from headgate.app.mirror_values import (
    change_view,
    checkpoint_view,
    difference_view,
    field_view,
    report_view,
    row_view,
    shown_source,
    stream_view,
)
from headgate.app.schema_values import job_response
from headgate.app.service import FIRST_PAGE, PageOf, PassPair, StreamPlace
from headgate.core.errors import UnknownJob, UnknownMirror
from headgate.core.gates.config import GateLimits
from headgate.core.paging import Cursor, SortOrder, decode_cursor, encode_cursor, filter_hash
from headgate.core.rate import parse_limits
from headgate.core.time_text import moment
from headgate.engine.gate_control import JobGates
from headgate.engine.mirror_diff import diff_page
from headgate.engine.pass_report import pace_of, work_of_pass
from headgate.engine.why import read_gates_or_none
from headgate.ports.mirrors import DiffQuery, Mirror, MirrorQuery, RowQuery, Stream
from headgate.ports.store import Store
from headgate.schema import mirrors as views
from headgate.schema.values import Page


class MirrorReads:
    """Implements MirrorVerbs for one owner's mirrors; `owner` None: for those of all owners."""

    def __init__(self, store: Store, limits: GateLimits, owner: str | None = None) -> None:
        self._store = store
        self._mirrors = store.mirrors
        self._limits = limits
        self._owner = owner

    async def ls(self) -> list[views.MirrorView]:
        found = await self._mirrors.mirrors(self._owner)
        return [*await asyncio.gather(*(self._view(each) for each in found))]

    async def get(self, mirror_id: int) -> views.MirrorDetail:
        mirror = await self._find(mirror_id)
        view = await self._view(mirror)
        shown = {name: getattr(view, name) for name in views.MirrorView.__struct_fields__}
        source = shown_source(mirror.source)
        return views.MirrorDetail(**shown, source=source, digest=mirror.digest)

    async def passes(self, mirror_id: int, page: PageOf = FIRST_PAGE) -> Page[views.PassView]:
        mirror = await self._find(mirror_id)
        name = filter_hash("passes", mirror_id)
        before = _number_in(page.after, name) or None
        found = await self._mirrors.passes(mirror_id, before, page.limit)
        shown = await asyncio.gather(*(self._pass(mirror, job_id) for job_id in found))
        return Page(items=[*shown], next=_next(found, page.limit, name))

    async def show(self, job_id: int) -> views.PassView:
        return await self._pass(await self._of_pass(job_id), job_id)

    async def report(self, job_id: int) -> views.PassReport:
        await self._of_pass(job_id)
        work = await work_of_pass(self._store.history, job_id)
        gates = JobGates(self._store, self._limits, job_id, guesses=self._owner is None)
        reading = await read_gates_or_none(gates)
        views_now = [] if reading is None else reading.views
        return report_view(job_id, work, pace_of(views_now, await self._declared_rate(job_id)))

    async def rows(
        self, place: StreamPlace, page: PageOf = FIRST_PAGE, *, deleted: bool = False
    ) -> Page[views.RowView]:
        await self._stream(place)
        name = filter_hash("rows", place, deleted)
        query = RowQuery(place.stream_id, _number_in(page.after, name), page.limit, deleted)
        found = await self._mirrors.rows(query)
        following = _next([each.number for each in found], page.limit, name)
        return Page(items=[row_view(each) for each in found], next=following)

    async def row(self, place: StreamPlace, row_id: str) -> views.RowDetail:
        stream = await self._stream(place)
        found = await self._mirrors.row(place.stream_id, row_id)
        if found is None:
            raise UnknownMirror(f"{stream.name} has no row {row_id[:100]!r}")
        changes = await self._mirrors.changes_of(found.number)
        view = row_view(found)
        shown = {name: getattr(view, name) for name in views.RowView.__struct_fields__}
        return views.RowDetail(**shown, changes=[change_view(each) for each in changes])

    async def changes(
        self, place: StreamPlace, page: PageOf = FIRST_PAGE
    ) -> Page[views.RowChangeView]:
        await self._stream(place)
        name = filter_hash("changes", place)
        after = _number_in(page.after, name)
        found = await self._mirrors.changes(place.stream_id, after, page.limit)
        following = _next([each.id for each in found], page.limit, name)
        return Page(items=[change_view(each) for each in found], next=following)

    async def fields(self, place: StreamPlace) -> list[views.FieldView]:
        await self._stream(place)
        return [field_view(each) for each in await self._mirrors.fields(place.stream_id)]

    async def differences(
        self, place: StreamPlace, between: PassPair, page: PageOf = FIRST_PAGE
    ) -> Page[views.DifferenceView]:
        await self._stream(place)
        for job_id in between:
            mirror = await self._of_pass(job_id)
            if mirror.id != place.mirror_id:
                raise UnknownJob(f"pass {job_id} is of another mirror, {mirror.name}")
        name = filter_hash("differences", place, between)
        after = _number_in(page.after, name)
        query = DiffQuery(place.stream_id, *between, after=after, limit=page.limit)
        found = await diff_page(self._mirrors, query)
        following = None if found.next_after is None else _cursor(found.next_after, name)
        return Page(items=[difference_view(each) for each in found.differences], next=following)

    async def forget(self, mirror_id: int) -> views.Forgotten:
        mirror = await self._find(mirror_id)
        removed = 0
        for _ in range(STEPS):
            step = await self._mirrors.forget(mirror.id)
            if not step:
                return views.Forgotten(removed=removed, done=True)
            removed += step
        return views.Forgotten(removed=removed, done=False)

    async def _declared_rate(self, job_id: int) -> float | None:
        """Requests per second that the source of a pass asks for; None: no limit."""
        try:
            config = (await self._store.reads.job(job_id)).config
            limits = parse_limits(config["source"]["client"]["rate"])
        except (UnknownJob, KeyError, TypeError, ValueError):  # deleted, or another handler
            return None
        return min((limit.count / limit.seconds for limit in limits), default=None)

    async def _stream(self, place: StreamPlace) -> Stream:
        """The stream, if its mirror belongs to the owner."""
        mirror = await self._find(place.mirror_id)
        for each in await self._mirrors.streams(mirror.id):
            if each.id == place.stream_id:
                return each
        raise UnknownMirror(f"mirror {mirror.name} has no stream {place.stream_id}")

    async def _find(self, mirror_id: int) -> Mirror:
        return await self._mirrors.find(MirrorQuery(mirror_id, owner=self._owner))

    async def _of_pass(self, job_id: int) -> Mirror:
        return await self._mirrors.find(MirrorQuery(pass_id=job_id, owner=self._owner))

    async def _view(self, mirror: Mirror) -> views.MirrorView:
        streams = await self._mirrors.streams(mirror.id)
        newest = await self._mirrors.passes(mirror.id, None, 1)
        return views.MirrorView(
            id=str(mirror.id),
            owner=mirror.owner,
            name=mirror.name,
            history=mirror.history,
            created_at=moment(mirror.created_at),
            streams=[stream_view(each) for each in streams],
            newest=await self._pass(mirror, newest[0]) if newest else None,
        )

    async def _pass(self, mirror: Mirror, job_id: int) -> views.PassView:
        try:
            job = await self._store.reads.job(job_id)
            shown = job_response(job, await self._store.reads.counts(job_id))
        except UnknownJob:  # it was deleted; its complete checkpoints stay
            shown = None
        checkpoints = await self._mirrors.checkpoints(job_id)
        return views.PassView(
            id=str(job_id),
            mirror_id=str(mirror.id),
            mirror=mirror.name,
            job=shown,
            checkpoints=[checkpoint_view(each) for each in checkpoints],
        )


STEPS = 20
"""Steps of one request that forgets a mirror, each of some thousand rows."""


def _cursor(number: int, name: str) -> str:
    return encode_cursor(Cursor(SortOrder.INPUT, name, 0, number))


def _number_in(after: str | None, name: str) -> int:
    return decode_cursor(after, SortOrder.INPUT, name).id if after else 0


def _next(numbers: Sequence[int], limit: int, name: str) -> str | None:
    return _cursor(numbers[-1], name) if len(numbers) == limit else None
