"""Reading sources whole, as tests want to see them."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from headgate.ports.source import RowBatch, Source

PLENTY = 1 << 30


class SeenRow(NamedTuple):
    """One row with all that a source says about it."""

    number: int
    line: int
    values: Mapping[str, Any]
    text: str
    problem: str | None


def batches(
    source: Source, position: str = "", rows: int = PLENTY, max_bytes: int = PLENTY
) -> Iterator[RowBatch]:
    """All batches from a position on, without the empty one at the end."""
    reader = source.open(position)
    try:
        while (batch := reader.take(rows, max_bytes)).values:
            yield batch
    finally:
        reader.close()


def rows_of(batch: RowBatch) -> list[SeenRow]:
    """The rows of a batch, one by one."""
    return [
        SeenRow(batch.first_row + index, line, values, text, batch.problems.get(index))
        for index, (line, values, text) in enumerate(
            zip(batch.lines, batch.values, batch.texts, strict=True),
        )
    ]


def all_rows(source: Source, position: str = "", rows: int = PLENTY) -> list[SeenRow]:
    """Every row from a position on."""
    return [row for batch in batches(source, position, rows) for row in rows_of(batch)]


def good_values(source: Source) -> list[dict[str, Any]]:
    """The values of all rows, none of which may be bad."""
    rows = all_rows(source)
    assert [row for row in rows if row.problem] == []
    return [dict(row.values) for row in rows]
