"""`python -m benchmarks.trouble.server`: one server, told by JSON on its command line.

It prints its port, and answers `/report` with what it has seen. Rows are asked for as `/row/N`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import dataclass, field
from random import Random

from tests.kit.tcp_server import Listener, head_of


@dataclass
class Terms:
    """What is wrong with it."""

    rows: int
    bad_share: float = 0.0
    together: bool = False
    """The bad rows stand side by side in the input."""
    status: int = 500
    latency_s: float = 0.05
    dead_after_s: float = 0.0
    dead_s: float = 0.0

    def bad(self) -> frozenset[int]:
        number = round(self.rows * self.bad_share)
        if self.together:
            return frozenset(range(self.rows // 4, self.rows // 4 + number))
        return frozenset(Random(7).sample(range(self.rows), number))


@dataclass
class Server:
    """Answers, and writes down when each row was first answered well."""

    terms: Terms
    first_s: float = 0.0
    requests: int = 0
    answered: dict[int, float] = field(default_factory=dict)

    async def serve(self) -> None:
        self.bad = self.terms.bad()
        listener = Listener(self.talk)
        await listener.start()
        print(listener.port, flush=True)
        while True:
            if self.terms.dead_s and self.first_s:
                await asyncio.sleep(self.terms.dead_after_s)  # noqa: TID251 -- a real server
                await listener.stop()
                await asyncio.sleep(self.terms.dead_s)  # noqa: TID251 -- and a real outage
                await listener.start()
                self.terms.dead_s = 0.0
            await asyncio.sleep(0.05)  # noqa: TID251 -- until the first request is there

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await head_of(reader):
            status, body = await self.answer(head.split(" ", 2)[1])
            length = f"content-length: {len(body)}\r\ncache-control: no-store\r\n\r\n"
            writer.write(f"HTTP/1.1 {status} X\r\n{length}".encode() + body)
            await writer.drain()

    async def answer(self, path: str) -> tuple[int, bytes]:
        if path == "/report":
            return 200, json.dumps(self.report()).encode()
        self.first_s = self.first_s or time.monotonic()
        self.requests += 1
        row = int(path.rpartition("/")[2])
        await asyncio.sleep(self.terms.latency_s)  # noqa: TID251 -- a real server takes its time
        if row in self.bad:
            return self.terms.status, b""
        self.answered.setdefault(row, time.monotonic())
        return 200, b"{}"

    def report(self) -> dict[str, float]:
        """Good rows, and the seconds until 95 % of them were answered."""
        good = self.terms.rows - len(self.bad)
        times = sorted(self.answered.values())
        enough = round(good * 0.95)
        until = times[enough - 1] - self.first_s if len(times) >= enough else float("inf")
        return {"answered": len(times), "seconds_to_95": until, "requests": self.requests}


if __name__ == "__main__":
    asyncio.run(Server(Terms(**json.loads(sys.argv[1]))).serve())
