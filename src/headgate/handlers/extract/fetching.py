"""Fetches one page of a stream, and says what the reply is."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.outcome import NotFound
from headgate.core.url import short_url
from headgate.core.watermark import stamp_of_date
from headgate.handlers.extract.description import ResponseAction
from headgate.handlers.extract.pages import At, BadPage, PageItem
from headgate.handlers.extract.paging.shape import ListedPage, PageRequest, PageStep
from headgate.handlers.extract.reading import Document, ReadRow
from headgate.handlers.extract.stream import StreamSource
from headgate.handlers.words.expression import Expression
from headgate.ports.handler import Context
from headgate.ports.http import Response

PARENT_ID = "id"
SHOWN = 200


class FetchedPage(NamedTuple):
    rows: Sequence[ReadRow]
    listed: int
    """Rows in the reply; a row that came twice counts twice."""
    step: PageStep
    total: int | None
    size: int
    """Bytes of the reply."""
    keys: Sequence[Any]
    date: str | None = None
    """When the source answered, by its own clock."""


async def fetch_page(
    stream: StreamSource, page: PageItem, at: At, ctx: Context, *, first: bool
) -> FetchedPage:
    """Ask for a page and read it; BadPage if it is not what the description says."""
    ask = stream.paging.request(at)
    reply = await send(stream, page, ask, ctx)
    beyond = is_beyond(stream, page, reply)
    document = Document(reply, [], []) if beyond else stream.reader.document(reply)
    parent = {PARENT_ID: page.parent, **_parent_values(page)}
    rows = stream.reader.rows(document, parent, page.included)
    keys = [stream.key(row.value) for row in rows] if stream.key else ()
    total = total_of(stream, reply, document) if not beyond else None
    more = stream.more_path.holds(document.value()) if stream.more_path and not beyond else None
    listed = ListedPage(
        len(document.raws),
        reply.url,
        reply.headers,
        document.value,
        first,
        beyond,
        total,
        more,
        keys,
    )
    step = stream.paging.step(at, listed)
    date = _date(reply) if first and stream.begins_by_date else None
    return FetchedPage(rows, len(document.raws), step, total, len(reply.content), keys, date)


async def send(stream: StreamSource, page: PageItem, ask: PageRequest, ctx: Context) -> Response:
    method, url, options = stream.request.prepare(page, ask)
    return await ctx.http.request(method, url, **options)


def is_beyond(stream: StreamSource, page: PageItem, reply: Response) -> bool:
    """Whether the reply means an empty page; raises for a reply that is an error."""
    action = _action(stream.resource.endpoint.response_actions, reply)
    if action == "ignore":
        return True
    where = f"{short_url(reply.url)} answered {reply.status_code}"
    if action == "retry":
        raise AttemptOver(Fault(FaultClass.TRANSIENT, where))
    if action == "fail":
        raise BadPage(f"{where}: {_beginning(reply)}")
    if reply.status_code in stream.words.ends_status and page.kind != "first":
        return True
    check_status(reply, where, is_child=page.parent is not None)
    return False


def check_status(reply: Response, where: str, *, is_child: bool) -> None:
    """Raise for a status that is an error; the listing of a parent's row may be gone."""
    if reply.status_code in {404, 410}:
        if is_child:
            raise AttemptOver(NotFound(f"{where}: the parent's row may be gone"))
        raise BadPage(f"{where}: there is no such listing; check base_url and endpoint.path")
    if 400 <= reply.status_code < 500 and reply.status_code not in {401, 403, 408, 425, 429}:
        raise BadPage(f"{where}: {_beginning(reply)}")
    reply.raise_for_status()


def total_of(stream: StreamSource, reply: Response, document: Document) -> int | None:
    """The number of rows that the reply states; None: it does not."""
    words = stream.words
    if words.total_url:
        return None
    return stated_total(reply, words.total_header, stream.total_path, document)


def stated_total(
    reply: Response, header: str, path: Expression | None, document: Document
) -> int | None:
    if header:
        value: Any = reply.headers.get(header.lower())
    elif path is not None:
        value = path.of(document.value())
    else:
        return None
    return _whole(value, header or (path.text if path else ""))


def _whole(value: Any, where: str) -> int | None:
    if value is None or value == "":
        return None
    if isinstance(value, str) and value.strip().isdecimal():
        return int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise BadPage(f"the total at {where!r} is not a number of rows but {str(value)[:60]!r}")


def _date(reply: Response) -> str:
    try:
        return stamp_of_date(reply.headers.get("date", ""))
    except ValueError:
        raise BadPage(
            f"{short_url(reply.url)} answered without a usable Date header, and the next pass"
            ' would begin at it: incremental.watermark = "date" cannot be used with this source'
        ) from None


def _parent_values(page: PageItem) -> dict[str, Any]:
    """The parent's values by their last name: `resources.issues.number` as `number`."""
    return {name.split(".", 2)[-1]: value for name, value in page.fills.items()}


def _action(actions: Sequence[ResponseAction], reply: Response) -> str:
    for each in actions:
        status = each.status_code is None or each.status_code == reply.status_code
        if status and (not each.content or each.content in reply.text):
            return each.action
    return ""


def _beginning(reply: Response) -> str:
    text = " ".join(reply.text[: 4 * SHOWN].split())
    return text[:SHOWN] or "(an empty body)"
