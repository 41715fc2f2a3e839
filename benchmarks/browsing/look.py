"""What the web UI costs its user: first JavaScript, rows held, long tasks, calls at rest."""

from __future__ import annotations

import argparse
import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Page, async_playwright

from benchmarks.serving.pages import fill
from benchmarks.serving.service import Service, serving, tell

ROW_PX = 36
ROWS_A_FRAME = 20
"""As fast as a wheel that is spun: a screenful in one or two frames."""
SETTLE_S = 3.0
_JS_BYTES = """() => performance.getEntriesByType("resource")
  .filter(({ name }) => new URL(name).pathname.endsWith(".js"))
  .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)"""
_TO_ROW = """async ({ wantedPx, stepPx }) => {
  const grid = document.querySelector("[role=grid]");
  const found = { tasks: 0, longest: 0, rows: 0 };
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) {
      found.tasks += 1;
      found.longest = Math.max(found.longest, duration);
    }
  });
  observer.observe({ type: "longtask" });
  const wanted = wantedPx - grid.clientHeight;
  while (grid.scrollTop < wanted - 1) {
    grid.scrollTop = Math.min(wanted, grid.scrollTop + stepPx);
    await new Promise(requestAnimationFrame);
    found.rows = Math.max(found.rows, grid.querySelectorAll("[role=row]").length);
  }
  await new Promise((rested) => setTimeout(rested, 300));
  observer.disconnect();
  return found;
}"""


@dataclass(frozen=True)
class Asked:
    items: int
    deep: int
    scrolled: int
    idle_s: float


@asynccontextmanager
async def browsing(service: Service) -> AsyncIterator[Page]:
    """A user who is logged in, with an empty cache."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        context = await browser.new_context(
            base_url=service.url, viewport={"width": 1280, "height": 800}
        )
        await context.request.post("/api/login", data={"token": service.token})
        yield await context.new_page()
        await browser.close()


async def entry_bytes(service: Service) -> int:
    """What the scripts weigh that the page itself names, packed as they are sent."""
    async with service.session.get("/") as reply:
        scripts = set(re.findall(r"/assets/[^\"]+\.js", await reply.text()))
    total = 0
    for path in scripts:
        async with service.session.get(path, headers={"Accept-Encoding": "gzip"}) as reply:
            assert reply.headers["Content-Encoding"] == "gzip"
            total += int(reply.headers["Content-Length"])
    return total


async def opened(page: Page, path: str) -> None:
    await page.goto(path)
    await page.locator("[role=grid] [aria-rowindex='2'] :not([class*=skeleton])").first.wait_for()


async def scroll(page: Page, rows: int, a_frame: int) -> dict[str, Any]:
    """Scroll down to a row, `a_frame` rows with each frame, as fast as pages arrive."""
    asked = {"wantedPx": rows * ROW_PX, "stepPx": a_frame * ROW_PX}
    found: dict[str, Any] = await page.evaluate(_TO_ROW, asked)
    return found


async def calls(page: Page, path: str, seconds: float) -> float:
    """Requests per minute of a page that is left alone."""
    await opened(page, path)
    await asyncio.sleep(SETTLE_S)  # noqa: TID251 -- a real page comes to rest
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    await asyncio.sleep(seconds)  # noqa: TID251 -- the page is watched in real time
    return sum("/api/" in url for url in asked) * 60 / seconds


async def finished(service: Service) -> str:
    """A small job that is done."""
    items = [{"n": str(n)} for n in range(20)]
    asked = {"handler": "bench.noop", "key": "n", "items": items}
    job: str = (await service.post("/api/jobs", json=asked))["jobId"]

    async def is_done() -> bool:
        return bool((await service.get(f"/api/jobs/{job}"))["state"] == "DONE")

    await service.until(is_done)
    return job


async def measure(url: str, folder: Path, asked: Asked) -> dict[str, float]:
    job = await fill(url, asked.items)
    async with serving(url, folder) as service:
        done = await finished(service)
        entry_js = await entry_bytes(service)
        async with browsing(service) as page:
            await opened(page, "/")
            screen_js: float = await page.evaluate(_JS_BYTES)
            await opened(page, f"/jobs/{job}")
            quick = await scroll(page, asked.scrolled, ROWS_A_FRAME)
            deep = await scroll(page, asked.deep, asked.deep)
            at_rest = [await calls(page, f"/jobs/{each}", asked.idle_s) for each in (done, job)]
    return {
        "entry_js_kb": entry_js / 1e3,
        "screen_js_kb": screen_js / 1e3,
        "dom_rows": deep["rows"],
        "long_tasks": quick["tasks"],
        "longest_ms": quick["longest"],
        "calls_per_min": max(at_rest),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--items", type=int, required=True)
    parser.add_argument("--deep", type=int, required=True)
    parser.add_argument("--scrolled", type=int, required=True)
    parser.add_argument("--idle", type=float, required=True)
    options = parser.parse_args()
    asked = Asked(options.items, options.deep, options.scrolled, options.idle)
    tell(asyncio.run(measure(options.db, options.folder, asked)))


if __name__ == "__main__":
    main()
