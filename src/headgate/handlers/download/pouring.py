"""From the wire into a draft, looked at on the way."""

import asyncio
from typing import Final

from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.verification import BodyCheck, Unfit
from headgate.ports.artifacts import Draft
from headgate.ports.http import StreamedResponse

WINDOW_S: Final = 60.0
"""Over so long a transfer is looked at for its speed."""


class TooSlow(AttemptOver):
    """It would take for ever, and hold a place among the transfers all the while."""

    code = "too-slow"

    def __init__(self, least_bytes_s: float) -> None:
        words = f"less than {least_bytes_s:g} bytes a second arrived for {WINDOW_S:g} s"
        super().__init__(Fault(FaultClass.TIMEOUT, words))


async def pour(
    reply: StreamedResponse, draft: Draft, inspection: BodyCheck, least_bytes_s: float
) -> None:
    """All that comes. Unfit as soon as it shows, TooSlow where nearly nothing comes."""
    time = asyncio.get_running_loop().time
    until_s, size = time() + WINDOW_S, inspection.size
    async for chunk in reply.aiter_bytes():
        if finding := inspection.feed(chunk):
            raise Unfit(finding)
        await draft.write(chunk)
        if time() >= until_s:
            if inspection.size - size < least_bytes_s * WINDOW_S:
                raise TooSlow(least_bytes_s)
            until_s, size = time() + WINDOW_S, inspection.size
