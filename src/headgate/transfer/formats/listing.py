"""A plain list: one name in each line, as people keep them in text files."""

from collections.abc import Sequence
from pathlib import Path

from headgate.transfer.formats.line_rows import LineReader, Rows
from headgate.transfer.limits import Limits
from headgate.transfer.lines import Encoding, decode_lines, find_encoding
from headgate.transfer.places.local import fingerprint
from headgate.transfer.position import decode_position

COLUMN = "id"
"""The one column of a list."""
COMMENT = "#"


class ListSource:
    """A file with a name in each line; blank lines and those that begin with # are passed over."""

    def __init__(
        self, path: Path, encoding: str | None = None, limits: Limits | None = None
    ) -> None:
        self._path = path
        self._encoding = encoding
        self._limit = (limits or Limits()).max_record_bytes

    def fingerprint(self) -> str:
        """The hash and the size of the file."""
        return fingerprint(self._path)

    def open(self, position: str = "") -> LineReader:
        """Begin reading at a stored position."""
        encoding = find_encoding(self._path, self._encoding)
        start = decode_position(position)
        return LineReader(self._path, encoding, start, self._limit, ListLines(encoding))


class ListLines:
    """Names, without the blanks around them."""

    columns = (COLUMN,)

    def __init__(self, encoding: Encoding) -> None:
        self._encoding = encoding

    def read(self, raw: Sequence[bytes], first_line: int, found: Rows) -> None:
        """Take the names of some lines in."""
        texts, broken = decode_lines(raw, self._encoding)
        for index, text in enumerate(map(str.strip, texts)):
            line = first_line + index
            if index in broken:
                found.bad(line, text, broken[index])
            elif text and not text.startswith(COMMENT):
                found.good(line, {COLUMN: text})
