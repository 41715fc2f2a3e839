"""What tests in a browser share: one Chromium, one server with one worker, and people."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.sample_jobs import SampleJobs, create_sample_jobs
from tests.kit.api_server import ApiServer, Caller
from tests.kit.browser import Visitor, chromium, demand_pages
from tests.kit.price_service import PriceService
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
    """Opens the browser: `visit(caller)` as a user, `visit(None)` without a login."""
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


@pytest.fixture(scope="package")
def sample_jobs(api: ApiServer) -> Iterator[SampleJobs]:
    """Jobs of every kind, and a service that is closed now."""
    with PriceService() as shop:
        yield create_sample_jobs(api, shop)
