"""What most tests of the polite client need: a server to ask."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.kit.api_server import ApiServer, Caller
from tests.kit.downloads import Downloads, downloads_in
from tests.kit.provider import Provider


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as provider:
        yield provider


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """A server on SQLite that the tests of one file share."""
    with ApiServer(tmp_path_factory.mktemp("api")) as server:
        yield server


@pytest.fixture
def admin(api: ApiServer) -> Caller:
    """The operator, who started the server."""
    return api.admin()


@pytest.fixture
async def download(tmp_path: Path) -> AsyncIterator[Downloads]:
    """Downloads into a folder of their own."""
    async with downloads_in(tmp_path) as downloads:
        yield downloads
