"""A plain list: one name in each line, as people keep them in text files."""

from collections.abc import Sequence

from headgate.transfer.formats.line_rows import LineSource, Rows
from headgate.transfer.lines import Encoding, decode_lines

COLUMN = "id"
"""The one column of a list."""
COMMENT = "#"


class ListSource(LineSource):
    """A file with a name in each line; blank lines and those that begin with # are passed over."""

    def _form(self, encoding: Encoding, columns: Sequence[str]) -> "ListLines":  # noqa: ARG002
        return ListLines(encoding)


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
