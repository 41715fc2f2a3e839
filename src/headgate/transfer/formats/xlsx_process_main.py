"""The process that writes a workbook from the pages on its standard input."""

import gc
import sys

import msgspec
import rustpy_xlsxwriter
from rustpy_xlsxwriter import Format

from headgate.core.errors import UsageError
from headgate.transfer.formats.xlsx_process import WorkbookOrder, pages, workbook_writer


def main() -> None:
    """Write the workbook; the last line on standard error says what failed."""
    gc.disable()  # millions of rows, and no cycles to collect
    sent = pages(sys.stdin.buffer)
    order = msgspec.json.decode(next(sent), type=WorkbookOrder)
    try:
        book = workbook_writer(order, sent)
        day = Format().set_num_format("yyyy-mm-dd")
        formats: dict[str, dict[str, Format] | list[Format]] = {
            name: dict.fromkeys(book.days, day) for name, _ in book.sheets
        }
        rustpy_xlsxwriter.write_worksheets(
            book.sheets,
            order.path,
            datetime_format="yyyy-mm-dd hh:mm:ss",
            column_formats=formats if book.days else None,
        )
    except (RuntimeError, OSError, UsageError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
