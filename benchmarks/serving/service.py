"""A real `headgate serve`, and the few requests that the figures make."""

from __future__ import annotations

import asyncio
import json
import os
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
LOOK_S = 0.1
"""As often as an impatient page would ask: what watches must not take the core it watches."""


@dataclass(frozen=True)
class Service:
    session: aiohttp.ClientSession
    pid: int
    url: str
    token: str

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

    async def is_ready(self) -> bool:
        async with self.session.get("/readyz") as reply:
            return reply.status == 200

    async def until(self, true: Callable[[], Awaitable[bool]]) -> None:
        """Ask again and again, as a client that polls."""
        while not await true():  # noqa: ASYNC110 -- a real server tells no event
            await asyncio.sleep(LOOK_S)  # noqa: TID251 -- a real server, in real time

    async def read(self, job: str) -> dict[str, Any]:
        """The job, once its source is read to the end."""
        found: dict[str, Any] = {}

        async def is_read() -> bool:
            found.update(await self.get(f"/api/jobs/{job}"))
            return found["state"] != "INGESTING"

        await self.until(is_read)
        return found

    def resident_mb(self) -> float:
        """The API and the file worker, which read the upload. Workers have figures of their own."""
        server = psutil.Process(self.pid)
        clerks = [
            child
            for child in server.children()
            if "headgate.app.processes.file_worker" in child.cmdline()
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
        stderr=asyncio.subprocess.DEVNULL,
        env={**os.environ, "HEADGATE_PLACES__ROOTS": str(folder)},
    )
    assert process.stdout is not None
    try:
        opened = json.loads(await process.stdout.readline())
        headers = {"Authorization": f"Bearer {opened['token']}"}
        limit = aiohttp.ClientTimeout(total=None)
        async with aiohttp.ClientSession(opened["url"], headers=headers, timeout=limit) as session:
            service = Service(session, process.pid, opened["url"], opened["token"])
            await service.until(service.is_ready)
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
