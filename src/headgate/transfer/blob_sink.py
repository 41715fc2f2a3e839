"""Blobs from a thread that reads: what is written is awaited in the loop that runs beside it."""

import asyncio
from collections.abc import Iterator

from headgate.ports.blobs import BlobStore, BlobWriter


class StoreSink:
    """A `BlobSink` that keeps bytes in a blob store; to be called from a thread."""

    def __init__(self, blobs: BlobStore, loop: asyncio.AbstractEventLoop) -> None:
        self._blobs = blobs
        self._loop = loop

    def __call__(self, chunks: Iterator[bytes]) -> str:
        """Store the bytes; the name to find them by."""
        writer: BlobWriter = asyncio.run_coroutine_threadsafe(
            self._blobs.create(), self._loop
        ).result()
        try:
            for chunk in chunks:
                asyncio.run_coroutine_threadsafe(writer.write(chunk), self._loop).result()
            return asyncio.run_coroutine_threadsafe(writer.commit(), self._loop).result()
        except BaseException:
            self._loop.call_soon_threadsafe(writer.abandon)
            raise
