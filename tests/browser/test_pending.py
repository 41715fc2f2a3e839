"""The pending dashboard with more rows than a page could load at once."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import expect

from headgate.core.job import NewJob
from headgate.core.status import JobMove
from headgate.ports.items import EnqueueRequest
from headgate.ports.store import Store
from tests.browser.conftest import Visit
from tests.kit.api_server import ApiServer, Caller
from tests.kit.factories import rows

OWNER = "hoarder"
ROWS = 200_000
BATCH = 20_000
LOW = {"width": 900, "height": 500}
"""Few rows are drawn over, so that little but the paging is waited for."""
MOST_IN_THE_PAGE = 150
_TO_THE_END = """async (last) => {
  const grid = document.querySelector("[role=grid]");
  const tail = grid.parentElement.querySelector(":scope > p");
  let most = 0;
  while (tail.textContent !== last) {
    grid.scrollTop = grid.scrollHeight;
    await new Promise(requestAnimationFrame);
    most = Math.max(most, grid.querySelectorAll("[role=row]").length);
  }
  return most;
}"""
"""Whoever holds the End key. The line below the grid tells how far the list is known."""


async def fill(store: Store) -> None:
    """A job that is paused before it is read, so that none of its rows runs."""
    job = await store.jobs.create_job(NewJob("shop.plain", "many.csv", name="Many", owner=OWNER))
    await store.jobs.move_job(job.id, JobMove.PAUSE)
    for start in range(1, ROWS, BATCH):
        await store.items.enqueue_many(EnqueueRequest(job.id, rows(BATCH, start)))
    await store.jobs.complete_ingest(job.id, ("n",))


@pytest.fixture
def hoarder(api: ApiServer) -> Caller:
    """A user with very many rows."""
    with ThreadPoolExecutor(1) as aside:  # the browser keeps an event loop in this thread
        aside.submit(api.project.ask, fill).result()
    return api.user(OWNER)


def test_very_many_rows_are_scrolled_to_the_end(visit: Visit, hoarder: Caller):
    someone = visit(hoarder, viewport=LOW)
    someone.open("/pending", "Pending")
    expect(someone.page.get_by_role("grid").get_by_role("row").nth(5)).to_be_visible()
    most = someone.page.evaluate(_TO_THE_END, f"All {ROWS:,} rows")
    assert most <= MOST_IN_THE_PAGE
    last = someone.page.get_by_role("grid").get_by_role("row").last
    expect(last).to_be_visible()
    expect(last.get_by_role("gridcell").nth(1)).not_to_be_empty()
