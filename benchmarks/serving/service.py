"""A real `headgate serve`, and the few requests that the figures make."""

from __future__ import annotations

import asyncio
import json
import signal
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import psutil

HANDLERS = Path(__file__).parent.parent / "handlers.py"
STOP_S = 60.0


@dataclass(frozen=True)
class Service:
    session: aiohttp.ClientSession
    pid: int

    async def get(self, path: str) -> dict[str, Any]:
        async with self.session.get(path) as reply:
            reply.raise_for_status()
            return await reply.json()

    async def post(self, path: str, **body: Any) -> dict[str, Any]:
        async with self.session.post(path, **body) as reply:
            assert reply.status < 300, await reply.text()
            return await reply.json()

    async def upload(self, file: Path) -> str:
        with file.open("rb") as rows:
            form = aiohttp.FormData({"handler": "bench.noop"})
            form.add_field("file", rows, filename=file.name)
            return (await self.post("/api/jobs", data=form))["jobId"]

    def resident_mb(self) -> float:
        """The API and the clerk: who takes the upload in. Workers have figures of their own."""
        server = psutil.Process(self.pid)
        clerks = [
            child for child in server.children() if "headgate.app.clerk_process" in child.cmdline()
        ]
        return sum(each.memory_info().rss for each in (server, *clerks)) / 1e6


@asynccontextmanager
async def serving(url: str, folder: Path) -> AsyncIterator[Service]:
    command = [sys.executable, "-m", "headgate", "serve", "--port", "0", "--json"]
    process = await asyncio.create_subprocess_exec(
        *command,
        "--db",
        url,
        "--handlers",
        str(HANDLERS),
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
        env=None,
    )
    assert process.stdout is not None
    try:
        opened = json.loads(await process.stdout.readline())
        headers = {"Authorization": f"Bearer {opened['token']}"}
        limit = aiohttp.ClientTimeout(total=None)
        async with aiohttp.ClientSession(
            opened["url"], headers=headers, timeout=limit
        ) as session:
            service = Service(session, process.pid)
            while (await session.get("/readyz")).status != 200:
                await asyncio.sleep(0.1)  # noqa: TID251 -- a real server starts in real time
            yield service
    finally:
        process.send_signal(signal.SIGTERM)
        await asyncio.wait_for(process.wait(), STOP_S)


async def times(work: Callable[[], Awaitable[object]], repeats: int) -> list[float]:
    taken = []
    for _ in range(repeats):
        started = time.perf_counter()
        await work()
        taken.append(time.perf_counter() - started)
    return taken


def percentile(taken: list[float], percent: int) -> float:
    return statistics.quantiles(taken, n=100, method="inclusive")[percent - 1]


def tell(report: dict[str, float]) -> None:
    print(json.dumps(report))
