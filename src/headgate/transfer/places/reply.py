"""The answer to a GET: which part of which file it carries."""

import http.client
import re
import zlib
from collections.abc import Iterator
from typing import Final

from headgate.core.errors import BadSource, SourceUnreachable
from headgate.core.redact_values import without_secrets
from headgate.transfer.places.carrier import BLOCK, Kept

_CONTENT_RANGE: Final = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)", re.IGNORECASE)
_GZIP: Final = frozenset({"gzip", "x-gzip"})
_PLAIN: Final = frozenset({"", "identity"})
UNSATISFIABLE: Final = 416


class Reply:
    """Head and body of an answer."""

    def __init__(self, response: http.client.HTTPResponse, url: str) -> None:
        self._response = response
        self.url = url
        """Where it came from in the end."""
        self.status = response.status
        self.headers = response.headers
        self.location = response.headers.get("location", "")

    @property
    def offset(self) -> int:
        """Where in the file the body begins."""
        return (self._range()[0] or 0) if self.status == 206 else 0

    @property
    def size(self) -> int | None:
        """How large the file is; None if the answer does not tell."""
        if self.status == 206:
            return self._range()[1]
        return None if self._is_packed() else self._response.length

    @property
    def version(self) -> str:
        """What the server says that changes with the file."""
        return self.headers.get("etag") or self.headers.get("last-modified") or ""

    def goes_on(self, kept: Kept) -> bool:
        """Whether it begins anew, or exactly where what is kept ends; some servers get it wrong."""
        if self.status == UNSATISFIABLE:
            return self._range() == (None, kept.size)
        if self.status == 206:
            return self._range()[0] == kept.size and self.version in {"", kept.version}
        return True

    def raise_for_status(self, ranged: bool) -> None:  # noqa: FBT001 (it is a fact of the request)
        """Whether there is a file in the answer; if not, say why."""
        status, place = self.status, without_secrets(self.url)
        if status == 200 or (ranged and status in {206, UNSATISFIABLE}):
            self._raise_if_cut()
            return
        if status in {404, 410}:
            raise FileNotFoundError
        if status in {401, 403}:
            raise PermissionError(f"the server answered {status}")
        if status in {408, 425, 429} or status >= 500:
            raise SourceUnreachable(f"{place} does not hand it out now ({status})")
        raise BadSource(f"{place} answered {status}, which is no file")

    def pieces(self) -> Iterator[bytes]:
        """The body, block by block."""
        encoding = self.headers.get("content-encoding", "").strip().lower()
        if encoding not in _PLAIN | _GZIP or (encoding in _GZIP and self.status == 206):
            raise BadSource(f"the answer is packed by {encoding}, which was not asked for")
        body = iter(lambda: self._response.read1(BLOCK), b"")
        return _unpacked(body) if encoding in _GZIP else body

    def _raise_if_cut(self) -> None:
        """A head that breaks off looks like one that states no length, with nothing after it."""
        response = self._response
        if response.length is None and not response.chunked and not response.peek(1):
            raise ConnectionError("the answer was cut off")

    def _is_packed(self) -> bool:
        return self.headers.get("content-encoding", "").strip().lower() not in _PLAIN

    def _range(self) -> tuple[int | None, int | None]:
        found = _CONTENT_RANGE.fullmatch(self.headers.get("content-range", "").strip())
        if found is None:
            raise SourceUnreachable("the server sent a part without saying which")
        start, total = found.groups()
        return int(start) if start else None, int(total) if total != "*" else None


def _unpacked(body: Iterator[bytes]) -> Iterator[bytes]:
    """Some servers pack what was asked for as it is; a block makes many, one at a time."""
    gzip = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        for packed in body:
            piece = gzip.decompress(packed, BLOCK)
            while piece:
                yield piece
                piece = gzip.decompress(gzip.unconsumed_tail, BLOCK)
    except zlib.error:
        raise SourceUnreachable("the answer is packed, and damaged") from None
    if not gzip.eof:
        raise ConnectionError("the answer was cut off")
