"""What most tests of the client ask for."""

from collections.abc import Iterator

import pytest

from tests.kit.provider import Provider, Seen, wait_until


class SettledProvider(Provider):
    """Says what it saw when every answer has ended; a client may know a moment earlier."""

    @property
    def seen(self) -> list[Seen]:
        wait_until(lambda: not self.under_way())
        return super().seen


@pytest.fixture
def provider() -> Iterator[Provider]:
    """A server that answers `hello` until it is told otherwise."""
    with SettledProvider() as provider:
        yield provider
