"""One large body, kept while it is read and then served: how much memory that takes."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from benchmarks.cache.asking import HEADERS, POLICY, Asker, opened
from headgate.app.event_loop import run_async
from headgate.ports.wire import WireRequest


def peak_mb() -> float:
    """The kernel's high-water mark."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return float(line.split()[1]) / 1024
    return 0.0


async def stream(asker: Asker, url: str, kind: str) -> tuple[int, float]:
    started = time.perf_counter()
    request = WireRequest("GET", url, HEADERS)
    reply = await asker.cache.fetch(request, asker.send, partition="ann", policy=POLICY)
    assert reply.kind == kind, reply.kind
    size = 0
    async for chunk in reply.chunks():
        size += len(chunk)
    await reply.close()
    return size, time.perf_counter() - started


async def measure(folder: Path, small: str, large: str) -> dict[str, float]:
    async with opened(folder) as asker:
        for kind in ("fetched", "cached"):
            await stream(asker, small, kind)
        before = peak_mb()
        size, store_s = await stream(asker, large, "fetched")
        kept = peak_mb()
        served, serve_s = await stream(asker, large, "cached")
        assert served == size
    return {
        "mb": size / 1e6,
        "kept_grown_mb": kept - before,
        "grown_mb": peak_mb() - before,
        "kept_mb_per_s": size / 1e6 / store_s,
        "served_mb_per_s": size / 1e6 / serve_s,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--small", required=True)
    parser.add_argument("--large", required=True)
    options = parser.parse_args()
    print(json.dumps(run_async(measure(**vars(options)))))


if __name__ == "__main__":
    main()
