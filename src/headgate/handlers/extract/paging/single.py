"""A listing of one page."""

from headgate.core.mirror import Proof
from headgate.handlers.extract.pages import At, BadPage
from headgate.handlers.extract.paging.shape import ListedPage, PageRequest, PageStep

_NEXT = ("next", "next_url", "nextLink", "@odata.nextLink", "next_page", "nextPageToken")


class SinglePaging:
    """All rows in one reply. If the source did not declare that, signs of more are an error."""

    proof = Proof.CHAINED
    is_chain = False

    def __init__(self, *, declared: bool, size: int | None) -> None:
        self._declared = declared
        self._size = size

    def first(self) -> At:
        return {}

    def request(self, at: At) -> PageRequest:  # noqa: ARG002 (one shape for all)
        return PageRequest()

    def label(self, at: At) -> str:  # noqa: ARG002 (one shape for all)
        return "page"

    def step(self, at: At, page: ListedPage) -> PageStep:  # noqa: ARG002 (one shape for all)
        if page.total is not None and page.total > page.rows:
            raise BadPage(
                f"the source says that it has {page.total:,} rows and gave {page.rows:,}; describe"
                " the `paginator`"
            )
        if not self._declared:
            self._check(page)
        return PageStep(ends=True)

    def _check(self, page: ListedPage) -> None:
        sign = ""
        if 'rel="next"' in page.headers.get("link", ""):
            sign = "its Link header names a next page"
        elif self._size is not None and page.rows >= self._size:
            sign = f"the page is full ({page.rows:,} rows)"
        elif isinstance(value := page.value(), dict):
            sign = next((f"it has {name!r}" for name in _NEXT if value.get(name)), "")
        if sign:
            raise BadPage(
                f"there may be more pages: {sign}. Describe the `paginator`, or declare"
                ' paginator = "single_page"'
            )
