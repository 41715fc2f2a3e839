"""What most tests of the polite client need: a server to ask."""

from collections.abc import Iterator

import pytest

from tests.kit.api_server import ApiServer, Caller
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
    """Whoever started the server."""
    return api.admin()
