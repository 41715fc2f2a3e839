"""Checks a mirror again: its proofs from the stored pages, its rows, and if asked the source."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import msgspec

from headgate.app.extract.opening import OpenedSource
from headgate.core.mirror import PassMode, Proof
from headgate.handlers.extract.closing import prove_again
from headgate.handlers.extract.pages import PageItem
from headgate.handlers.extract.sample import SourceSample
from headgate.ports.handler import Context
from headgate.ports.mirrors import Checkpoint, MirrorStore, PassWish, RowQuery, Stream

PAGE = 2_000


class StreamCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What a second look at a stream found."""

    stream: str
    pass_id: int
    proof: Proof | None
    """What the pass recorded; None: it did not complete the stream."""
    found: Proof | None = None
    """What its pages prove now; None: they are gone with their job."""
    rows: int = 0
    """Live rows, counted."""
    recorded: int = 0
    """Live rows as of the last closing."""
    remote_total: int | None = None
    missing: int = 0
    """Rows of the source's first page that the mirror does not have, or has as deleted."""
    differing: int = 0
    """Rows of the source's first page that the mirror has with another content."""
    problems: tuple[str, ...] = ()


class MirrorCheck:
    def __init__(self, mirrors: MirrorStore, source: OpenedSource) -> None:
        self._mirrors = mirrors
        self._source = source

    async def stream(self, stream: Stream, checkpoint: Checkpoint) -> StreamCheck:
        """Prove a stream again from the pages of a pass, and count its rows."""
        found = await self._prove(checkpoint)
        rows = await self._count(stream)
        problems = []
        if checkpoint.proof is None:
            problems.append("the pass did not complete it")
        elif found is None:
            problems.append("the pages of the pass are no longer stored, so nothing is proven")
        elif found is not checkpoint.proof:
            problems.append(f"its pages prove it {found}, and the pass recorded {checkpoint.proof}")
        if rows != stream.live and checkpoint.proof is not None:
            problems.append(f"it has {rows:,} live rows, and {stream.live:,} were recorded")
        return StreamCheck(
            stream=stream.name,
            pass_id=checkpoint.job_id,
            proof=checkpoint.proof,
            found=found,
            rows=rows,
            recorded=stream.live,
            problems=tuple(problems),
        )

    async def remote(self, checked: StreamCheck, stream: Stream, ctx: Context) -> StreamCheck:
        """Compare a stream with the first page of the source, and with its number of rows."""
        plan = self._source.for_pass.plan({}, PassWish((stream.name,), full=True))
        names = [each.stream for each in plan.checkpoints]
        taken = SourceSample(self._source.bound, ctx)
        sample = (await taken.take(names, plan.items))[-1]
        problems = list(checked.problems)
        if sample.problem:
            problems.append(f"the source cannot be asked: {sample.problem}")
        missing = differing = 0
        for row in taken.rows.get(stream.name, ()):
            stored = await self._mirrors.row(stream.id, row.id)
            if row.deleted:
                continue
            missing += stored is None or stored.deleted_at is not None
            differing += stored is not None and stored.hash != row.hash
        total = None if sample.parent else sample.total
        if total is not None and total != checked.rows:
            problems.append(f"the source has {total:,} rows now, and the mirror {checked.rows:,}")
        if missing or differing:
            problems.append(
                f"of the source's first page, {missing:,} rows are missing and {differing:,} differ"
            )
        return msgspec.structs.replace(
            checked,
            remote_total=total,
            missing=missing,
            differing=differing,
            problems=tuple(problems),
        )

    async def _prove(self, checkpoint: Checkpoint) -> Proof | None:
        source = self._source.bound.streams.get(checkpoint.stream)
        if source is None or checkpoint.proof is None:
            return None
        full = checkpoint.mode is PassMode.FULL
        page = PageItem(checkpoint.stream, "closing", full=full, since=checkpoint.since)
        if not await self._mirrors.page_results(checkpoint.job_id, checkpoint.name, 0, 1):
            return None

        def results() -> AsyncIterator[Mapping[str, Any]]:
            return self._results(checkpoint)

        return (await prove_again(source, page, results, checkpoint.evidence or {})).proof

    async def _results(self, checkpoint: Checkpoint) -> AsyncIterator[Mapping[str, Any]]:
        after = 0
        while page := await self._mirrors.page_results(
            checkpoint.job_id, checkpoint.name, after, PAGE
        ):
            for each in page:
                yield msgspec.json.decode(each.result)
            after = page[-1].item_id

    async def _count(self, stream: Stream) -> int:
        after = count = 0
        while page := await self._mirrors.rows(RowQuery(stream.id, after, PAGE)):
            after = page[-1].number
            count += len(page)
        return count
