"""The end of a stream in a pass: it is closed with a proof, or pages are asked for again."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import msgspec

from headgate.core.mirror import Closing, Proof
from headgate.core.outcome import Done
from headgate.handlers.extract.listing import count_rows
from headgate.handlers.extract.pages import PageItem
from headgate.handlers.extract.stream import StreamSource
from headgate.handlers.extract.tally import Results, tallied
from headgate.handlers.extract.verdict import TOTAL_AFTER, PassVerdict, verdict_of
from headgate.ports.handler import Context


async def close_stream(stream: StreamSource, page: PageItem, ctx: Context) -> Done:
    """Close the checkpoint with a proof, or ask again for the pages around a gap."""

    def results() -> AsyncIterator[Mapping[str, Any]]:
        return ctx.pages(stream.name)

    async def count() -> int | None:
        return await count_rows(stream, page, ctx)

    tally, watermark = await tallied(results)
    verdict = await verdict_of(stream, page, tally, results, count)
    if verdict.repairs:
        again = msgspec.structs.replace(page, round=tally.rounds + 1, scope="")
        items = [again.follow("page", stream.paging.label(at), at=at) for at in verdict.repairs]
        return Done({"repairs": len(items), **verdict.evidence}, items=items)
    closing = Closing(
        stream.name,
        verdict.proof,
        watermark,
        verdict.evidence,
        _deletes(stream, verdict.proof),
    )
    return Done({"proof": str(verdict.proof), **verdict.evidence}, closing=closing)


async def prove_again(
    stream: StreamSource, page: PageItem, results: Results, evidence: Mapping[str, Any]
) -> PassVerdict:
    """The verdict that the stored pages give; nothing is fetched.

    `evidence` is that of the closing, which has what the source said last.
    """

    async def count() -> int | None:
        return evidence.get(TOTAL_AFTER)

    tally, _ = await tallied(results)
    return await verdict_of(stream, page, tally, results, count)


def _deletes(stream: StreamSource, proof: Proof) -> bool:
    wanted = stream.resource.deletes
    if wanted == "never" or proof is Proof.UNPROVEN:
        return False
    return wanted == "counted" or proof is not Proof.COUNTED
