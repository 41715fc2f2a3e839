"""A server whose files never end: `python -m benchmarks.download.streams`.

It prints its port, a second line once `--expected` streams are open, and at its end how many bytes
it sent. A stream is as fast as its reader, up to 8 MB/s: a disk is not endless.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
from collections.abc import Mapping

from tests.kit.tcp_server import Listener, head_of

BLOCK = b"%PDF-1.7\n" + bytes(262_135)
EVERY_S = len(BLOCK) / 8e6
ENDLESS = b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\nTransfer-Encoding: chunked\r\n\r\n"
ROBOTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n"
CHUNK = b"%x\r\n%b\r\n" % (len(BLOCK), BLOCK)


class Streams:
    def __init__(self, expected: int) -> None:
        self._expected = expected
        self._open = 0
        self.sent = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while " /robots.txt " in (head := await head_of(reader)):
            writer.write(ROBOTS)
        if head:
            await self._stream(writer)

    async def _stream(self, writer: asyncio.StreamWriter) -> None:
        writer.write(ENDLESS)
        self._open += 1
        if self._open == self._expected:
            tell({"open": self._open})
        try:
            while True:
                writer.write(CHUNK)
                await writer.drain()
                self.sent += len(BLOCK)
                await asyncio.sleep(EVERY_S)  # noqa: TID251 -- a real server, in real time
        finally:
            self._open -= 1


def tell(words: Mapping[str, object]) -> None:
    print(json.dumps(words), flush=True)


async def serve(expected: int) -> None:
    streams, over = Streams(expected), asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, over.set)
    async with Listener(streams.answer) as server:
        tell({"port": server.port})
        await over.wait()
    tell({"sent": streams.sent})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--expected", type=int, required=True)
    asyncio.run(serve(parser.parse_args().expected))


if __name__ == "__main__":
    main()
