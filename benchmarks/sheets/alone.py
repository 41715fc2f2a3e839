"""The libraries alone: rows from memory into a workbook, and a workbook into memory."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import python_calamine
import rustpy_xlsxwriter

from benchmarks.sheets.rows import rows


def write(out: Path, items: int) -> float:
    prepared = list(rows(items))
    started = time.perf_counter()
    rustpy_xlsxwriter.write_worksheet(prepared, str(out))
    return time.perf_counter() - started


def read(file: Path, items: int) -> float:
    started = time.perf_counter()
    found = python_calamine.load_workbook(file).get_sheet_by_index(0).to_python()
    seconds = time.perf_counter() - started
    assert len(found) == items + 1
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, required=True)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--file", type=Path)
    options = parser.parse_args()
    done = write(options.out, options.items) if options.out else read(options.file, options.items)
    print(json.dumps({"rows_per_s": options.items / done}))


if __name__ == "__main__":
    main()
