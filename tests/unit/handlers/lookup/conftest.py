"""A real server for lookups to ask."""

from collections.abc import Iterator

import pytest

from tests.kit.provider import Provider


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as provider:
        yield provider
