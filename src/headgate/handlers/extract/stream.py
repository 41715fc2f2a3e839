"""A stream of a source, ready to be listed."""

from collections.abc import Mapping

from headgate.core.errors import UsageError
from headgate.core.mirror import FollowUp, MirrorRow
from headgate.core.ordering import Compare
from headgate.handlers.extract.children import ChildStream, first_pages, one_of
from headgate.handlers.extract.description import ClientWords, Resource
from headgate.handlers.extract.pages import PageItem, short_key
from headgate.handlers.extract.paginators import (
    KeysetPaginator,
    OffsetPaginator,
    PageNumberPaginator,
    PaginatorWord,
    SinglePage,
)
from headgate.handlers.extract.paging.chain import ChainOptions, ChainPaging
from headgate.handlers.extract.paging.keyset import KeysetOptions, KeysetPaging
from headgate.handlers.extract.paging.offset import (
    OffsetOptions,
    OffsetPaging,
    PageNumberPaging,
)
from headgate.handlers.extract.paging.shape import AHEAD, Paging, size_in
from headgate.handlers.extract.paging.single import SinglePaging
from headgate.handlers.extract.paging.window import WindowPaging
from headgate.handlers.extract.reading import Getter, ReadRow, RowReader, expression_of, getter
from headgate.handlers.extract.request import PARENT, SourceClient, StreamRequest, url_template
from headgate.handlers.extract.source import parent_of, parent_paths
from headgate.handlers.words.request_url import RequestUrl
from headgate.handlers.words.template import parse_template

SIZE = 100
"""Rows of a page of keys where the description does not say how many a page has."""


class StreamSource:
    def __init__(self, resource: Resource, client: SourceClient, words: ClientWords) -> None:
        self.resource = resource
        self.name = resource.name
        self.parent = parent_of(resource)
        self.request = StreamRequest(resource, client)
        paginator = resource.endpoint.paginator or words.paginator
        self.words: PaginatorWord = paginator or SinglePage()
        where = f"{self.name}.paginator"
        self.total_path = expression_of(self.words.total_path, f"{where}.total_path")
        self.more_path = expression_of(self.words.has_more_path, f"{where}.has_more_path")
        self.order = resource.order or None
        self.paging = self._paging(client, declared=paginator is not None)
        is_single = isinstance(self.words, SinglePage)
        self.reader = RowReader(resource, is_single=is_single)
        self.key = self._key()
        self.detail = self._detail(client)
        self.total_url = self._total_url(client)
        self.children: list[ChildStream] = []

    @property
    def is_covered(self) -> bool:
        """Its pages can show that they cover the order of a unique key."""
        order = self.order
        if isinstance(self.paging, KeysetPaging):
            return order is None or order.immutable
        sure = order is not None and order.unique and order.immutable
        return sure and isinstance(self.paging, OffsetPaging) and self.overlap > 0

    @property
    def begins_by_date(self) -> bool:
        """The next pass begins at the time of this one, not at the newest stamp of the rows."""
        changed = self.resource.endpoint.incremental
        return changed is not None and changed.watermark == "date"

    @property
    def compare(self) -> Compare:
        if isinstance(self.words, KeysetPaginator):
            return self.words.compare
        return self.order.compare if self.order else Compare.EQUAL

    @property
    def overlap(self) -> int:
        if self.resource.overlap is not None:
            return self.resource.overlap
        return 1 if self.order and isinstance(self.words, OffsetPaginator) else 0

    def children_of(self, row: ReadRow, page: PageItem) -> list[FollowUp]:
        """The first pages of the streams that are listed for a row."""
        return [
            follow
            for child in self.children
            if child.name not in page.without
            for follow in first_pages(child, self.name, row, page)
        ]

    def mirror_row(self, row: ReadRow, page: PageItem) -> MirrorRow:
        """The row as a page of the listing brings it."""
        children = [] if page.full else self.children_of(row, page)
        then = one_of(children, page, row)
        body = None if self.detail else row.body
        if self.detail:
            then = self.detail_of(row, page)
        return MirrorRow(
            self.name, row.id, body, row.hash, row.stamp, page.parent, row.deleted, then
        )

    def detail_of(self, row: ReadRow, page: PageItem) -> FollowUp:
        fills = {name: row.value.get(name) for name in self._detail_fields}
        return page.follow(
            "detail",
            f"detail={short_key(row.id)}",
            at={"id": row.id},
            fills={**page.fills, **fills},
            hash=row.hash,
            round=0,
        )

    def _key(self) -> Getter | None:
        """The field that pages or windows are compared by."""
        if self.resource.range:
            return getter(self.resource.range.by, f"{self.name}.range.by")
        if isinstance(self.words, KeysetPaginator):
            return getter(self.words.key, f"{self.name}.paginator.key")
        return getter(self.order.key, f"{self.name}.order.key") if self.order else None

    def _paging(self, client: SourceClient, *, declared: bool) -> Paging:
        inner = self._inner(client, declared=declared)
        if self.resource.range is None:
            return inner
        if isinstance(inner, SinglePaging | KeysetPaging):
            raise UsageError(f"{self.name}.range: windows need a paginator with several pages")
        return WindowPaging(
            self.resource.range, inner, self.words.cap, is_parallel=self._is_parallel
        )

    def _inner(self, client: SourceClient, *, declared: bool) -> Paging:
        words, size = self.words, size_in(self.request.params)
        if isinstance(words, SinglePage):
            return SinglePaging(declared=declared, size=size)
        if isinstance(words, OffsetPaginator):
            return OffsetPaging(words, words.limit, self._offset_options())
        if isinstance(words, PageNumberPaginator):
            return PageNumberPaging(words, words.limit or size or 0, self._offset_options())
        if isinstance(words, KeysetPaginator):
            rows = words.limit or size or SIZE
            unique = self.order is None or self.order.unique
            options = KeysetOptions(self._is_parallel, unique and words.compare is not Compare.TIME)
            return KeysetPaging(words, rows, options)
        schemes = frozenset({client.scheme, "https"})
        chain = ChainOptions(client.hosts, schemes, size, self._is_parallel)
        return ChainPaging(words, chain)  # type: ignore[arg-type]  # the kinds that are left

    @property
    def _is_parallel(self) -> bool:
        return self.resource.parallel != "off"

    def _offset_options(self) -> OffsetOptions:
        # The listings of children are many and short: they run side by side anyway.
        ahead = AHEAD if self._is_parallel and not self.parent else 1
        limit = getattr(self.words, "limit", None) or 2
        return OffsetOptions(min(self.overlap, limit - 1), ahead, self.resource.range is not None)

    def _detail(self, client: SourceClient) -> RequestUrl | None:
        self._detail_fields: list[str] = []
        detail = self.resource.detail
        if detail is None:
            return None
        path = detail.path
        names = [name for name in _names_in(path) if not name.startswith((PARENT, "env."))]
        self._detail_fields = [name for name in names if name not in client.fixed]
        fixed = {**client.fixed, **dict.fromkeys(self._detail_fields, "")}
        return url_template(client._replace(fixed=fixed), path, f"{self.name}.detail.path")

    def _total_url(self, client: SourceClient) -> RequestUrl | None:
        if not self.words.total_url:
            return None
        if not (self.words.total_header or self.words.total_path):
            raise UsageError(
                f"{self.name}.paginator.total_url: say with total_path or total_header where its"
                " reply has the number"
            )
        return url_template(client, self.words.total_url, f"{self.name}.paginator.total_url")


def link_children(streams: Mapping[str, StreamSource]) -> None:
    """Tell each stream which others are listed for its rows."""
    for stream in streams.values():
        if not stream.parent:
            continue
        paths = {
            f"{PARENT}{stream.parent}.{path}": getter(path, f"{stream.name}.endpoint.path")
            for path in parent_paths(stream.resource)
        }
        child = ChildStream(stream.name, paths, stream.resource.include_from_parent)
        streams[stream.parent].children.append(child)


def _names_in(path: str) -> list[str]:
    return [each.column for each in parse_template(path, "detail.path").placeholders]
