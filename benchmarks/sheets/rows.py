"""Rows of ten cells as an export has them: six of the input, two of the result, status, error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

INPUTS = ("sku", "title", "url", "amount", "weight", "since")
RESULTS = ("price", "in_stock")
COLUMNS = (*INPUTS, *RESULTS, "_status", "_error")


def inputs(number: int) -> dict[str, Any]:
    return {
        "sku": f"SKU-{number:08d}",
        "title": f"A product with a title of ordinary length, number {number:08d}",
        "url": f"https://shop.example/catalogue/{number % 97:02d}/{number:08d}",
        "amount": number % 1_000,
        "weight": number / 7,
        "since": f"20{number % 24:02d}-{number % 12 + 1:02d}-{number % 28 + 1:02d}",
    }


def results(number: int) -> dict[str, Any]:
    return {"price": number % 10_000 / 100, "in_stock": number % 3 > 0}


def rows(items: int) -> Iterator[dict[str, Any]]:
    for number in range(items):
        yield {**inputs(number), **results(number), "_status": "DONE", "_error": None}
