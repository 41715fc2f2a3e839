"""What a kind of paging answers: the request of a page, and what follows from its reply."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

from headgate.core.mirror import Proof
from headgate.handlers.extract.pages import At

MOST_ITEMS = 2_000
"""Most items that one page brings; the last of them brings the next ones."""
AHEAD = 16
"""Pages that are asked for ahead where a source does not say how many there are."""
SIZE_PARAMS = (
    *("limit", "per_page", "page_size", "pageSize", "perPage", "_size", "size", "$top"),
    *("count", "first", "max_results", "maxResults", "_limit", "rows", "take", "pagelen"),
)
"""Parameters by which sources commonly take the size of a page."""


class PageRequest(NamedTuple):
    """What a page adds to the request of its stream."""

    params: Mapping[str, Any] = {}
    url: str = ""
    """The whole URL, in place of the stream's."""
    body: Mapping[str, Any] = {}
    """Values by their path in the JSON body."""


class ListedPage(msgspec.Struct, frozen=True):
    """A reply, as far as paging needs it."""

    rows: int
    url: str
    """The URL that was asked."""
    headers: Mapping[str, str]
    value: Callable[[], Any]
    """The whole reply as a value."""
    first: bool = False
    """It is the first page of its listing."""
    beyond: bool = False
    """The source answered that there is no such page."""
    total: int | None = None
    more: bool | None = None
    """Whether the source says that there are more pages; None: it does not say."""
    keys: Sequence[Any] = ()
    """The values that the listing is paged by, where it is paged by values of rows."""


class PageStep(NamedTuple):
    """What follows from a page."""

    follow: Sequence[At] = ()
    ends: bool = False
    numbered: bool = False
    low: Any = None
    high: Any = None
    begin: int | None = None


class Paging(Protocol):
    proof: Proof
    """What the pages show by themselves, once all of them were fetched."""
    is_chain: bool
    """Pages name the next one, so one item may fetch several."""

    def first(self) -> At:
        """Where a listing begins."""
        ...

    def request(self, at: At) -> PageRequest: ...

    def step(self, at: At, page: ListedPage) -> PageStep: ...

    def label(self, at: At) -> str:
        """The page in the key of its item."""
        ...


def size_in(params: Mapping[str, Any]) -> int | None:
    """The size of a page that the parameters of a stream ask for."""
    for name in SIZE_PARAMS:
        value = params.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        if isinstance(value, str) and value.isdecimal() and int(value) > 0:
            return int(value)
    return None
