"""A server in the shape of Looker's API 4.0, with faults. Looker's own client accepts it."""

import json
import secrets
import threading
from collections.abc import Iterable
from typing import Any, NamedTuple
from urllib.parse import parse_qs, parse_qsl, urlencode

from tests.kit.answers import Answer, Headers, Request
from tests.kit.looker_content import CALLER, KINDS, Kind, Row, invented
from tests.kit.provider import Provider
from tests.kit.source_faults import Fault

API = "/api/4.0"
PAGING = {"fields", "limit", "offset"}
EXTRA = {"scheduled_plans": {"all_users"}, "dashboards": {"deleted"}, "looks": {"deleted"}}
"""What a search of a kind takes beside paging and `sorts`."""


class LookerServer(Provider):
    """`rows` rows of each kind, which may change at any time through `put` and `remove`.

    Totals and links come only with `limit`, and not at all without `totals`. Whatever it does not
    know is refused: a parameter, a field to sort by. Explores can only be asked for one by one.
    """

    client_id, client_secret = "headgate", "pa/ss&word"

    def __init__(self, rows: int = 25, *, totals: bool = True, token_life_s: int = 3600) -> None:
        super().__init__(self._reply)
        self.faults: list[Fault] = []
        """Asked in turn for each request but logins; the first answer counts."""
        self.delay_s = 0.0
        """Before each answer with content."""
        self.logins = 0
        self._totals = totals
        self._token_life_s = token_life_s
        self._content = invented(rows)
        self._tokens: set[str] = set()
        self._content_lock = threading.Lock()

    @property
    def environment(self) -> dict[str, str]:
        """What Looker's clients are told by."""
        return {
            "LOOKERSDK_BASE_URL": self.url(""),
            "LOOKERSDK_CLIENT_ID": self.client_id,
            "LOOKERSDK_CLIENT_SECRET": self.client_secret,
        }

    # ---- what a test changes ---------------------------------------------------------------

    def rows(self, kind: str) -> list[Row]:
        """What it truly holds, in the order of a listing."""
        with self._content_lock:
            return sorted(self._content[kind].values(), key=lambda row: _in_order(row, "id"))

    def put(self, kind: str, *rows: Row) -> None:
        """Add or replace rows."""
        key = KINDS[kind].key
        with self._content_lock:
            self._content[kind] |= {row[key]: row for row in rows}

    def remove(self, kind: str, *keys: str) -> None:
        """Delete rows without a trace."""
        with self._content_lock:
            for key in keys:
                del self._content[kind][key]

    def expire_tokens(self) -> None:
        """Refuse every token that was given until now."""
        self._tokens.clear()

    # ---- what it answers -------------------------------------------------------------------

    def _reply(self, request: Request) -> Answer:
        if request.path == f"{API}/login":
            return self._login(request)
        for fault in self.faults:
            if (answer := fault(request)) is not None:
                return answer
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() not in {"token", "bearer"} or token not in self._tokens:
            return _refused(401, "Requires authentication.")
        if request.path == "/api/logout":
            self._tokens.discard(token)
            return Answer(204)
        if request.method != "GET" or not request.path.startswith(f"{API}/"):
            return _refused(404, "Not found")
        return self._read(request)._replace(delay_s=self.delay_s)

    def _login(self, request: Request) -> Answer:
        given = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
        asked = (given.get("client_id"), given.get("client_secret"))
        if request.method != "POST" or asked != (self.client_id, self.client_secret):
            return _refused(404, "Not found")
        token = secrets.token_hex(20)
        self._tokens.add(token)
        self.logins += 1
        life = {"expires_in": self._token_life_s, "refresh_token": None}
        return _json({"access_token": token, "token_type": "Bearer", **life})

    def _read(self, request: Request) -> Answer:
        query = dict(parse_qsl(request.target.partition("?")[2]))
        match request.path.removeprefix(f"{API}/").split("/"):
            case [name, "search"] if name in KINDS and KINDS[name].searched:
                return self._list(name, query, request)
            case ["lookml_models"]:
                return self._list("lookml_models", query, request)
            case ["lookml_models", model, "explores", explore]:
                return self._one("explores", f"{model}::{explore}", query)
            case [name, key] if name in KINDS and name != "explores":
                return self._one(name, key, query)
        return _refused(404, "Not found")

    def _one(self, name: str, key: str, query: dict[str, str]) -> Answer:
        row = self._content[name].get(key)
        if row is None:
            return _refused(404, "Not found")
        if unknown := query.keys() - {"fields"}:
            return _refused(422, f"unknown parameters: {sorted(unknown)}")
        return _json(_with_fields([row], query)[0])

    def _list(self, name: str, query: dict[str, str], request: Request) -> Answer:
        kind = KINDS[name]
        known = PAGING | EXTRA.get(name, set()) | ({"sorts"} if kind.sortable else set())
        if unknown := query.keys() - known:
            return _refused(422, f"unknown parameters: {sorted(unknown)}")
        try:
            sorts = _sorts(query, kind)
            window = _window(query)
        except ValueError as wrong:
            return _refused(422, str(wrong))
        rows = [row for row in self.rows(name) if _is_asked_for(name, row, query)]
        for field, descending in reversed(sorts):
            rows.sort(key=lambda row: _in_order(row, field), reverse=descending)
        if window is None:
            return _json(_with_fields(rows, query))
        page = rows[window.offset : window.offset + window.limit]
        headers = _links(self.url(request.path), query, window, len(rows)) if self._totals else ()
        return _json(_with_fields(page, query), headers)


class Window(NamedTuple):
    """Which rows of a listing are asked for."""

    offset: int
    limit: int


def _window(query: dict[str, str]) -> Window | None:
    """None: all of them."""
    if "limit" not in query:
        return None
    window = Window(int(query.get("offset", 0)), int(query["limit"]))
    if window.limit < 1 or window.offset < 0:
        raise ValueError("limit must be positive, and offset not negative")
    return window


def _sorts(query: dict[str, str], kind: Kind) -> list[tuple[str, bool]]:
    """Fields with whether they descend."""
    asked = [word.split() for word in query.get("sorts", "").split(",") if word]
    for field, *_ in asked:
        if field not in kind.sortable:
            raise ValueError(f"{field} is not a field to sort by")
    return [(words[0], words[1:] == ["desc"]) for words in asked]


def _is_asked_for(name: str, row: Row, query: dict[str, str]) -> bool:
    if name == "scheduled_plans" and query.get("all_users") != "true":
        return bool(row["user_id"] == CALLER)
    if "deleted" in query:
        return str(row["deleted"]).lower() == query["deleted"].lower()
    return True


def _in_order(row: Row, field: str) -> tuple[bool, int, str]:
    """Ids are numbers to Looker's database, though the API gives them as text."""
    text = str(row.get(field) or row.get("name") or "")
    return (not text.isdigit(), int(text) if text.isdigit() else 0, text)


def _with_fields(rows: Iterable[Row], query: dict[str, str]) -> list[Row]:
    if "fields" not in query:
        return list(rows)
    wanted = {word.strip().partition("(")[0] for word in query["fields"].split(",")}
    return [{name: value for name, value in row.items() if name in wanted} for row in rows]


def _links(url: str, query: dict[str, str], window: Window, total: int) -> Headers:
    offset, limit = window
    last = max(0, (total - 1) // limit * limit)
    places = {"first": 0, "last": last}
    if offset + limit < total:
        places["next"] = offset + limit
    if offset > 0:
        places["prev"] = max(0, offset - limit)
    links = [
        f'<{url}?{urlencode({**query, "offset": place})}>; rel="{name}"'
        for name, place in places.items()
    ]
    return [("X-Total-Count", str(total)), ("Link", ", ".join(links))]


def _json(value: Any, headers: Headers = ()) -> Answer:
    kind = ("Content-Type", "application/json;charset=utf-8")
    return Answer(200, [kind, *headers], json.dumps(value).encode())


def _refused(status: int, message: str) -> Answer:
    """Without an address of documentation, which Looker's client would ask for."""
    body = {"message": message, "documentation_url": ""}
    return _json(body)._replace(status=status)
