"""Bodies, taken in whole."""

from headgate.net.gated import Passage
from headgate.ports.wire import WireReply


async def whole(reply: WireReply, limit: int) -> bytes | None:
    """The whole body, wherever it comes from; None if it is larger than `limit`."""
    if isinstance(reply, Passage):
        return await reply.read(limit)
    pieces: list[bytes] = []
    size = 0
    async for piece in reply.chunks():
        size += len(piece)
        if size > limit:
            return None
        pieces.append(piece)
    return b"".join(pieces)
