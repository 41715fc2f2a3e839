"""A source whose listings lie, each in its own way, beside one that tells the truth."""

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from tests.kit.answers import Answer, Request
from tests.kit.provider import Provider

ROWS = 35
PAGE_ROWS = 10
NAMES = "abcd"
"""Of the pages of a chain."""
Row = dict[str, Any]
Listing = Callable[[Mapping[str, str]], Answer]

HEAD = """
name = "liar"
[client]
base_url = "{url}"
rate = "1000/s"
[resource_defaults]
primary_key = "id"
[resource_defaults.endpoint]
data_selector = "rows"
"""
STREAM = """
[[resources]]
name = "{name}"
order = {order}
[resources.endpoint]
path = "/{name}"
paginator = {paginator}
"""
BY_ID = '{ key = "id", compare = "number" }'
COUNTED = (BY_ID, '{ type = "offset", limit = 10, total_path = "total" }')
UNCOUNTED = (BY_ID, '{ type = "offset", limit = 10 }')
LINKED = ("false", '{ type = "json_link", next_url_path = "next" }')
Words = tuple[str, str]


def rows(count: int = ROWS, **more: Any) -> list[Row]:
    return [{"id": number, "name": f"Row {number}", **more} for number in range(1, count + 1)]


class LyingSource(Provider):
    """`lies` can be switched off; then each listing is as it says."""

    def __init__(self, thief: str) -> None:
        super().__init__(self._reply)
        self.lies = True
        self._thief = thief
        self._listings: dict[str, tuple[Words, Listing]] = {
            "truth": (COUNTED, self._slice),
            "total_too_high": (COUNTED, lambda query: self._slice(query, total=100)),
            "total_too_low": (COUNTED, lambda query: self._slice(query, total=15)),
            "fewer_rows": (COUNTED, lambda query: self._slice(query, most=4)),
            "fewer_rows_uncounted": (UNCOUNTED, lambda query: self._slice(query, most=4)),
            "empty_middle": (COUNTED, self._empty_middle),
            "error_body": (COUNTED, self._error_body),
            "row_without_id": (COUNTED, self._row_without_id),
            "another_type": (COUNTED, self._another_type),
            "link_elsewhere": (LINKED, lambda query: self._chain(query, elsewhere=True)),
            "link_in_a_circle": (LINKED, lambda query: self._chain(query, circle=True)),
            "empty_link": (LINKED, lambda query: self._chain(query, empty=True)),
        }

    @property
    def description(self) -> str:
        streams = [
            STREAM.format(name=name, order=order, paginator=paginator)
            for name, ((order, paginator), _) in self._listings.items()
        ]
        return HEAD.format(url=self.url("").rstrip("/")) + "".join(streams)

    def _reply(self, request: Request) -> Answer:
        path, _, query = request.target.partition("?")
        words, listing = self._listings[path.strip("/")]
        given = dict(parse_qsl(query))
        if self.lies:
            return listing(given)
        return self._chain(given) if words is LINKED else self._slice(given)

    def _slice(
        self,
        query: Mapping[str, str],
        total: int | None = ROWS,
        most: int = PAGE_ROWS,
        of: list[Row] | None = None,
    ) -> Answer:
        offset, limit = int(query["offset"]), min(int(query["limit"]), most)
        found = (rows() if of is None else of)[offset : offset + limit]
        return page(rows=found, total=total)

    def _empty_middle(self, query: Mapping[str, str]) -> Answer:
        is_middle = 0 < int(query["offset"]) < 2 * PAGE_ROWS
        return page(rows=[], total=ROWS) if is_middle else self._slice(query)

    def _error_body(self, query: Mapping[str, str]) -> Answer:
        if query["offset"] == "0":
            return self._slice(query)
        return page(error="internal failure", code=17)

    def _row_without_id(self, query: Mapping[str, str]) -> Answer:
        found = rows()
        del found[25]["id"]
        return self._slice(query, of=found)

    def _another_type(self, query: Mapping[str, str]) -> Answer:
        found = rows()
        found[25]["name"] = 26
        return self._slice(query, of=found)

    def _chain(
        self,
        query: Mapping[str, str],
        *,
        elsewhere: bool = False,
        circle: bool = False,
        empty: bool = False,
    ) -> Answer:
        """Pages a, b, c, d; an empty one, e, may stand between b and c."""
        name = query.get("token", "a")
        if name == "e":
            return page(rows=[], next="?token=c")
        place = NAMES.index(name)
        found = rows()[place * PAGE_ROWS : (place + 1) * PAGE_ROWS]
        following = f"?token={NAMES[place + 1]}" if name != NAMES[-1] else None
        if name == "b" and (elsewhere or empty):
            following = f"{self._thief}?token=c" if elsewhere else "?token=e"
        if name == "c" and circle:
            following = "?token=b"
        return page(rows=found, next=following)


def page(**body: Any) -> Answer:
    return Answer(200, [("Content-Type", "application/json")], json.dumps(body).encode())
