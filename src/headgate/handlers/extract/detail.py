"""Fetches the whole form of a row."""

import msgspec

from headgate.core.mirror import MirrorRow
from headgate.core.outcome import Done, NotFound, Outcome
from headgate.core.url import short_url
from headgate.handlers.extract.fetching import check_status
from headgate.handlers.extract.pages import BadPage, Evidence, PageItem, as_result
from headgate.handlers.extract.paging.shape import PageRequest
from headgate.handlers.extract.stream import StreamSource
from headgate.handlers.words.paths import path_expression
from headgate.ports.handler import Context


async def fetch_detail(stream: StreamSource, page: PageItem, ctx: Context) -> Outcome:
    """Keep the whole form of a row, with the hash of its listed form if that decides."""
    detail = stream.resource.detail
    if detail is None or stream.detail is None:
        raise BadPage(f"{stream.name} has no `detail` in its description")
    options = stream.request.prepare(page, PageRequest()).options
    url = stream.detail.url({**stream.request.fixed, **page.fills})
    reply = await ctx.http.request(
        "GET", url, headers=options.get("headers"), params=dict(detail.params), fresh=True
    )
    where = f"{short_url(reply.url)} answered {reply.status_code}"
    if reply.status_code in {404, 410}:
        return NotFound(f"{where}: the row may be gone")
    check_status(reply, where, is_child=False)
    try:
        value = msgspec.json.decode(reply.content)
    except (msgspec.DecodeError, RecursionError):
        raise BadPage(f"{where} with a body that is not JSON") from None
    raw = msgspec.Raw(reply.content)
    if detail.data_selector:
        value = path_expression(detail.data_selector, "detail.data_selector").of(value)
        raw = msgspec.Raw(msgspec.json.encode(value))
    row = stream.reader.row(raw, value, {"id": page.parent}, page.included)
    if row.id != page.at["id"]:
        raise BadPage(f"{where} with the row {row.id!r}, and {page.at['id']!r} was asked for")
    kept = MirrorRow(
        stream.name,
        row.id,
        row.body,
        page.hash if detail.when == "changed" else row.hash,
        row.stamp,
        page.parent,
        row.deleted,
    )
    children = [] if page.full else stream.children_of(row, page)
    stamp = None if stream.begins_by_date else row.stamp
    return Done(as_result(Evidence(detail=True, stamp=stamp)), [kept], children)
