"""The rows that every contender works on: about 200 bytes each, the same for the same number."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

# About 100 bytes as JSON, the result size that the figures are stated for.
RESULT = {"status": "ok", "score": 0.987654321, "label": "no-op", "note": "x" * 40}
COLUMNS = ("sku", "title", "url", "note")


def rows(items: int) -> Iterator[tuple[str, str, str, str]]:
    for number in range(items):
        yield (
            f"SKU-{number:08d}",
            f"A product with a title of ordinary length, number {number:08d}",
            f"https://shop.example/catalogue/{number % 97:02d}/{number:08d}",
            "n" * 48,
        )


def write_csv(path: Path, items: int) -> Path:
    """Write the rows once; a file of that size that already lies there is used again."""
    if not path.exists():
        unfinished = path.with_suffix(".part")
        with unfinished.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            writer.writerows(rows(items))
        unfinished.rename(path)
    return path
