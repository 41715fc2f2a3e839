"""What tests in a browser share: one Chromium, one server with one worker, and people."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser

from tests.kit.api_server import ApiServer, Caller, rows_csv
from tests.kit.browser import Visitor, chromium, demand_pages
from tests.kit.service import ServiceMissing, skip_or_fail

Visit = Callable[..., Visitor]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One for all; every visitor has a profile of their own.

    It ends with this folder: it keeps an event loop that tests of other folders would meet.
    """
    try:
        demand_pages()
    except ServiceMissing as missing:
        skip_or_fail(missing)
    with chromium() as found:
        yield found


@pytest.fixture(scope="package")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """A server that may reach this machine, where the rude service is."""
    with ApiServer(tmp_path_factory.mktemp("browser"), net__allow_private="true") as server:
        yield server


@pytest.fixture
def visit(browser: Browser, api: ApiServer) -> Iterator[Visit]:
    """Lets people in: `visit(caller)`, or `visit(None)` for somebody who is not logged in."""
    visitors: list[Visitor] = []

    def arrive(caller: Caller | None, url: str = "", **options: Any) -> Visitor:
        visitor = Visitor(browser, url or api.url, **options)
        visitors.append(visitor)
        if caller is not None:
            visitor.login(caller)
        return visitor

    yield arrive
    for visitor in visitors:
        visitor.leave()


class World(NamedTuple):
    """Something of everything, so that no screen is empty."""

    admin: Caller
    job: str
    """It has every outcome."""
    item: str
    """One of its items, in ERROR."""
    waiting: str
    """A job whose items wait."""

    def screens(self) -> dict[str, str]:
        """Every screen by its path, with the name that stands above it if it is always the same."""
        tabs = ("grid", "pending", "errors", "activity", "exports", "configuration")
        return {
            "/": "Jobs",
            "/jobs/new": "New job",
            **{f"/jobs/{self.job}?tab={tab}": "" for tab in tabs},
            f"/items/{self.item}": "",
            "/review": "Review",
            "/pending": "Pending",
            "/providers": "Providers",
            "/workers": "Workers",
            "/dead-letters": "Dead letters",
            "/settings": "Settings",
        }


DEEDS = {"r2": "missing", "r3": "fail", "r4": "review", "r5": "skip", "r6": "fail", "r7": "review"}


@pytest.fixture(scope="package")
def world(api: ApiServer, tmp_path_factory: pytest.TempPathFactory) -> World:
    """A job that is done, and one that waits for a file that never comes."""
    admin = api.admin()
    job = admin.done(rows_csv(30, **DEEDS), name="Every outcome")
    gate: Path = tmp_path_factory.mktemp("gate") / "never"
    config = f'{{"gate": "{gate}"}}'
    waiting = admin.send(rows_csv(2), handler="shop.gated", config=config, name="Waiting")
    admin.reached(waiting, "RUNNING")
    item = admin.items(job, statuses="ERROR")[0]["id"]
    return World(admin, job, item, waiting)
