"""The words of paginators: how the pages of a listing are asked for."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from headgate.core.bounds import Count
from headgate.core.ordering import Compare

Param = Annotated[str, Meta(max_length=200)]
Expr = Annotated[str, Meta(max_length=500)]
Number = Annotated[int, Meta(ge=0, le=1_000_000_000_000)]
Ends = Literal["", "short", "empty", "total", "flag", "no_next"]
PageStatus = Annotated[int, Meta(ge=400, le=499)]


class PaginatorWord(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    """What every paginator may say."""

    total_path: Expr | None = None
    """A JMESPath expression for the number of rows."""
    total_header: Param = ""
    """The header that has the number of rows."""
    total_url: Annotated[str, Meta(max_length=2_000)] = ""
    """A URL to ask for the number of rows: by GET with `total_path`, by HEAD with
    `total_header`."""
    ends: Ends = ""
    """How a listing ends; empty: as its paginator and the first reply suggest."""
    ends_status: tuple[PageStatus, ...] = ()
    """Statuses of the source that mean a page beyond the last one."""
    has_more_path: Expr = ""
    """A JMESPath expression that holds if there are more pages."""
    cap: Count | None = None
    """Most rows that the source gives of one listing."""
    stable: bool = False
    """Rows never move between pages while a pass runs, although its pages are numbered."""
    stop_after_empty_page: bool = True
    """An empty page ends a listing whose total is unknown. False needs a total."""

    def __post_init__(self) -> None:
        total = self.total_path or self.total_header or self.total_url
        if not self.stop_after_empty_page and not total:
            raise ValueError(
                "with stop_after_empty_page = false nothing ends the listing: say with total_path,"
                " total_header or total_url how many rows there are"
            )


class SinglePage(PaginatorWord, frozen=True, tag="single_page"):
    """The reply has all rows."""


class OffsetPaginator(PaginatorWord, frozen=True, tag="offset"):
    limit: Count = 100
    """Rows of a page."""
    offset: Number = 0
    """The offset of the first page."""
    offset_param: Param = "offset"
    """The parameter for the number of rows before the page."""
    limit_param: Param = "limit"
    """The parameter for the number of rows of a page."""
    offset_body_path: Expr = ""
    """Where the offset stands in the JSON body, if it is sent there."""
    limit_body_path: Expr = ""
    """Where the limit stands in the JSON body, if it is sent there."""
    maximum_offset: Number | None = None
    """Pages from this offset on are not asked for; a listing that is cut so is never proven."""


class PageNumberPaginator(PaginatorWord, frozen=True, tag="page_number"):
    base_page: Number = 0
    """The number of the first page, as the source counts."""
    page: Number | None = None
    """The number of the first page, if it is not `base_page`."""
    page_param: Param = "page"
    """The parameter for the number of the page."""
    limit: Count | None = None
    """Rows of a page; unset: from a parameter such as `per_page`, or the first page's rows."""
    limit_param: Param = ""
    """The parameter for the number of rows of a page; empty: it is not sent."""
    page_body_path: Expr = ""
    """Where the number of the page stands in the JSON body, if it is sent there."""
    maximum_page: Number | None = None
    """The last page that is asked for; a listing that is cut so is never proven."""


class CursorPaginator(PaginatorWord, frozen=True, tag="cursor"):
    cursor_path: Expr = "cursors.next"
    """A JMESPath expression for the cursor of the next page."""
    cursor_param: Param = "cursor"
    """The parameter for the cursor."""
    cursor_body_path: Expr = ""
    """Where the cursor stands in the JSON body, if it is sent there."""


class JsonLinkPaginator(PaginatorWord, frozen=True, tag="json_link"):
    next_url_path: Expr = "next"
    """A JMESPath expression for the URL of the next page, which may be relative."""


class HeaderLinkPaginator(PaginatorWord, frozen=True, tag="header_link"):
    links_next_key: Param = "next"
    """The relation of the link to the next page. With a link `last`, all pages are asked for at
    once."""


class HeaderCursorPaginator(PaginatorWord, frozen=True, tag="header_cursor"):
    cursor_key: Param = "next"
    """The header that has the cursor, or the URL, of the next page."""
    cursor_param: Param = "cursor"
    """The parameter for the cursor, unless the header has a URL."""
    cursor_body_path: Expr = ""
    """Where the cursor stands in the JSON body, if it is sent there."""


class KeysetPaginator(PaginatorWord, frozen=True, kw_only=True, tag="keyset"):
    after_param: Annotated[str, Meta(min_length=1, max_length=200)]
    """The parameter for the key behind which a page begins."""
    until_param: Param = ""
    """The parameter for the last key of a page; empty: pages are fetched one after the other."""
    key: Expr = "id"
    """The field of a row; it never changes. Times need not be unique."""
    compare: Compare = Compare.NUMBER
    """How the source compares keys: `number`, `text` or `time`."""
    limit: Count | None = None
    """Rows of a page; unset: from a parameter such as `per_page`."""
    limit_param: Param = ""
    """The parameter for the number of rows of a page; empty: it is not sent."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.compare is Compare.EQUAL:
            raise ValueError("pages by key need keys that can be compared: number, text or time")


Paginator = (
    SinglePage
    | OffsetPaginator
    | PageNumberPaginator
    | CursorPaginator
    | JsonLinkPaginator
    | HeaderLinkPaginator
    | HeaderCursorPaginator
    | KeysetPaginator
)
NAMES = (
    "single_page",
    "offset",
    "page_number",
    "cursor",
    "json_link",
    "header_link",
    "header_cursor",
    "keyset",
)
