"""The process that writes a workbook from the pages on its standard input."""

import gc
import sys

import msgspec
import rustpy_xlsxwriter

from headgate.core.errors import UsageError
from headgate.transfer.formats.book import BookOrder, pages, sheets


def main() -> None:
    """Write as ordered; the last line on standard error says what went wrong."""
    gc.disable()  # there are no cycles here, only millions of rows
    sent = pages(sys.stdin.buffer)
    order = msgspec.json.decode(next(sent), type=BookOrder)
    try:
        rustpy_xlsxwriter.write_worksheets(list(sheets(order, sent)), order.path)
    except (RuntimeError, OSError, UsageError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
