"""What most tests of the client ask for."""

from collections.abc import Iterator

import pytest

from tests.kit.provider import Provider


@pytest.fixture
def provider() -> Iterator[Provider]:
    """A server that answers `hello` until it is told otherwise."""
    with Provider() as provider:
        yield provider
