"""Guesses how an API is paged from one reply. A person checks the guess before a pass runs."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from headgate.core.errors import UsageError
from headgate.handlers.extract.importing.jinja import jmespath
from headgate.handlers.extract.paging.chain import links_of
from headgate.handlers.extract.paging.shape import SIZE_PARAMS
from headgate.handlers.extract.reading import CONTENT

DEEPEST: Final = 4
_TOTAL_HEADERS: Final = ("x-total-count", "x-wp-total", "x-total", "total-count", "total-objects")
_TOTALS: Final = re.compile(
    r"total|total_?(count|items|results|records|rows|objects)|count|num_?found|number_?matched"
    r"|@odata\.count|filtered_table_rows_count|nb_?hits|result_?count",
    re.IGNORECASE,
)
_LINKS: Final = re.compile(
    r"next|next_?(page|url|link|href|page_url)|@odata\.nextLink", re.IGNORECASE
)
_URL: Final = re.compile(r"https?://|/|[^?\s]*\?")
"""A URL may be relative, and then has a path or a question mark."""
_CURSORS: Final = re.compile(
    r"(next|after|end|continuation)_?(page_?)?(cursor|token|key|id)?|cursor|offset_?token",
    re.IGNORECASE,
)
_MORE: Final = re.compile(
    r"has_?(more|next)(_?(page|items|results))?|is_?truncated|more", re.IGNORECASE
)
_CURSOR_PARAMS: Final = {
    "nextpagetoken": "pageToken",
    "nextcursor": "cursor",
    "nexttoken": "nextToken",
    "endcursor": "after",
    "after": "after",
}
_OFFSETS: Final = ("offset", "skip", "start", "$skip", "_start", "startAt")
_PAGES: Final = ("page", "page_number", "pageNumber", "p", "_page")
_KEYS: Final = ("id", "uuid", "uid", "gid", "_id", "ID", "Id", "key", "sha", "slug", "code", "name")
_STAMPS: Final = re.compile(
    r"(last_?)?(updated|modified|changed)(_?(at|on|time|date|gmt))?", re.IGNORECASE
)


class ListingReply(NamedTuple):
    """The reply to the URL that was asked."""

    url: str
    headers: Mapping[str, str]
    value: Any


class Guess(NamedTuple):
    tree: dict[str, Any]
    """The words of a source."""
    reasons: list[str]
    """What each word was guessed from, and what to check."""


class _Member(NamedTuple):
    steps: tuple[str, ...]
    value: Any

    @property
    def name(self) -> str:
        return self.steps[-1]

    @property
    def path(self) -> str:
        return jmespath(self.steps)


def guess_source(reply: ListingReply, name: str) -> Guess:
    """A source for the listing at a URL; UsageError if the reply has no rows."""
    steps, rows = _rows(reply.value)
    reasons = [f"{len(rows)} rows were found {_place(steps)}"]
    parts = urlsplit(reply.url)
    params = dict(parse_qsl(parts.query))
    paginator, params = _paginator(reply, steps, rows, params, reasons)
    folder, _, last = parts.path.rstrip("/").rpartition("/")
    endpoint: dict[str, Any] = {"path": f"/{last}", "params": params}
    if steps:
        endpoint["data_selector"] = jmespath(steps)
    endpoint["paginator"] = paginator | _total(reply, rows, reasons)
    resource = {"name": _stream_name(last), "primary_key": _key(rows, reasons)}
    _tell_stamps(rows, reasons)
    client = {"base_url": f"{parts.scheme}://{parts.netloc}{folder}"}
    endpoint = {word: value for word, value in endpoint.items() if value}
    tree = {"name": name, "client": client, "resources": [{**resource, "endpoint": endpoint}]}
    return Guess(tree, reasons)


def _rows(value: Any) -> tuple[tuple[str, ...], Sequence[Any]]:
    """The longest list of objects, and the way to it."""
    found: list[tuple[tuple[str, ...], Sequence[Any]]]
    if isinstance(value, list):
        found = [((), value)] if all(isinstance(each, Mapping) for each in value) else []
    else:
        found = [
            (each.steps, each.value)
            for each in _members(value)
            if isinstance(each.value, list)
            and each.value
            and all(isinstance(row, Mapping) for row in each.value)
        ]
    if not found:
        raise UsageError(
            "the reply has no list of objects, so this is not the URL of a listing; give one that"
            " answers with several rows"
        )
    return max(found, key=lambda each: len(each[1]))


def _members(value: Any, above: tuple[str, ...] = ()) -> Iterator[_Member]:
    """The members of an object and of the objects in it, but not those of rows."""
    if not isinstance(value, Mapping) or len(above) >= DEEPEST:
        return
    for name, each in value.items():
        steps = (*above, str(name))
        yield _Member(steps, each)
        yield from _members(each, steps)


def _paginator(
    reply: ListingReply,
    steps: tuple[str, ...],
    rows: Sequence[Any],
    params: dict[str, str],
    reasons: list[str],
) -> tuple[dict[str, Any], dict[str, str]]:
    """The words of a paginator, and the parameters that remain beside it."""
    outside = [
        each for each in _members(reply.value) if each.steps[: len(steps)] != steps or not steps
    ]
    if "next" in links_of(reply.headers.get("link", "")):
        reasons.append("the header Link names the next page")
        return {"type": "header_link", "ends": "no_next"}, params
    for guess in (_linked, _by_cursor):
        if words := guess(outside, reasons):
            return words, params
    if (numbered := _numbered(outside, rows, params, reasons)) is not None:
        return numbered
    if words := _after_last(outside, steps, rows, reasons):
        return words, params
    reasons.append(
        "nothing names a next page: the reply is taken as the whole listing. If there are more"
        " rows, name the paginator, or give the URL with its parameters, such as ?page=1"
    )
    return {"type": "single_page"}, params


def _linked(outside: Sequence[_Member], reasons: list[str]) -> dict[str, Any] | None:
    for each in outside:
        is_link = isinstance(each.value, str) and _URL.match(each.value)
        named = any(_LINKS.fullmatch(step) for step in each.steps)
        if is_link and named:
            reasons.append(f"{each.path} has the URL of the next page")
            return {"type": "json_link", "next_url_path": each.path, "ends": "no_next"}
    return None


def _by_cursor(outside: Sequence[_Member], reasons: list[str]) -> dict[str, Any] | None:
    for each in outside:
        is_value = isinstance(each.value, str) and 0 < len(each.value) <= 2_000
        if is_value and _CURSORS.fullmatch(each.name):
            plain = each.name.replace("_", "").lower()
            param = _CURSOR_PARAMS.get(plain, "cursor")
            reasons.append(
                f"{each.path} looks like a cursor; that it is sent as the parameter {param!r} is"
                " assumed: check it"
            )
            return {"type": "cursor", "cursor_path": each.path, "cursor_param": param}
    return None


def _numbered(
    outside: Sequence[_Member], rows: Sequence[Any], params: dict[str, str], reasons: list[str]
) -> tuple[dict[str, Any], dict[str, str]] | None:
    """Pages by offset or number, as parameters of the URL or members of the reply say."""
    told = {each.name for each in outside if type(each.value) is int} | params.keys()
    size_param = next((name for name in SIZE_PARAMS if name in params), "")
    stated = params.get(size_param, "")
    size = int(stated) if stated.isdecimal() and int(stated) else max(len(rows), 1)
    rest = {name: value for name, value in params.items() if name != size_param}
    for name in _OFFSETS:
        if name in told:
            reasons.append(f"{name} is in the URL or the reply, so pages begin at an offset")
            words = {"type": "offset", "limit": size, "offset_param": name}
            words["limit_param"] = size_param or "limit"
            return words, {key: value for key, value in rest.items() if key != name}
    for name in _PAGES:
        if name in told:
            first = params.get(name, "1")
            reasons.append(f"{name} is in the URL or the reply, so pages have numbers")
            words = {"type": "page_number", "page_param": name, "limit": size}
            words["base_page"] = int(first) if first.isdecimal() else 1
            return words, {key: value for key, value in params.items() if key != name}
    return None


def _after_last(
    outside: Sequence[_Member], steps: tuple[str, ...], rows: Sequence[Any], reasons: list[str]
) -> dict[str, Any] | None:
    """A flag that there are more, and no cursor: the last row's id is one."""
    for each in outside:
        if isinstance(each.value, bool) and _MORE.fullmatch(each.name) and "id" in rows[-1]:
            reasons.append(
                f"{each.path} says whether there are more; that the next page is asked for with"
                " starting_after and the last row's id is assumed: check it"
            )
            return {
                "type": "cursor",
                "cursor_path": f"{jmespath(steps)}[-1].id",
                "cursor_param": "starting_after",
                "has_more_path": each.path,
                "ends": "flag",
            }
    return None


def _total(reply: ListingReply, rows: Sequence[Any], reasons: list[str]) -> dict[str, str]:
    for name in _TOTAL_HEADERS:
        if reply.headers.get(name, "").isdecimal():
            reasons.append(f"the header {name} has the number of rows")
            return {"total_header": name}
    for each in _members(reply.value):
        if type(each.value) is int and _TOTALS.fullmatch(each.name) and each.value > len(rows):
            reasons.append(f"{each.path} ({each.value:,}) is taken as the number of rows")
            return {"total_path": each.path}
    return {}


def _key(rows: Sequence[Mapping[str, Any]], reasons: list[str]) -> str:
    for name in _KEYS:
        values = [row.get(name) for row in rows]
        usable = all(type(each) in {int, str} and each != "" for each in values)
        if usable and len(set(values)) == len(values):
            reasons.append(f"{name} differs in all rows, so it is the primary key")
            return name
    reasons.append("no field is known to identify a row, so its content does; name one if you can")
    return CONTENT


def _tell_stamps(rows: Sequence[Mapping[str, Any]], reasons: list[str]) -> None:
    reasons += [
        f"{name} may say when a row was changed; if the API has a filter for it, add"
        f' incremental = {{ cursor_path = "{name}", start_param = "…" }}'
        for name in rows[0]
        if _STAMPS.fullmatch(name)
    ]


def _place(steps: tuple[str, ...]) -> str:
    return f"at {jmespath(steps)}" if steps else "as the whole reply"


def _stream_name(last: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "_", last.partition(".")[0]).strip("_")[:64] or "rows"
