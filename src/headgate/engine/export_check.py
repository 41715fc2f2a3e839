"""Compares an export file with the store, row by row, in constant memory."""

import hashlib
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

import msgspec

from headgate.engine.export import Columns, canonical
from headgate.engine.threads import in_thread
from headgate.ports.reads import ReadStore
from headgate.ports.source import RowForm, Source

_BYTES = 4 * 1024 * 1024


class ExportCheckReport(msgspec.Struct, frozen=True):
    job_id: int
    rows: int
    """Rows of the job that were compared."""
    sha256: str
    """Over the compared rows of the job, as in the record of an export."""
    difference: str | None = None
    """The first difference, in words; None if the file equals the store."""


class ExportCheck:
    PAGE = 5_000

    def __init__(self, reads: ReadStore) -> None:
        self._reads = reads

    async def check(self, job_id: int, parts: Sequence[Source], form: RowForm) -> ExportCheckReport:
        job = await self._reads.job(job_id)
        columns = Columns(job.columns, await self._reads.result_columns(job_id))
        pages = self._pages(job_id, columns)
        return await self.compare(job_id, columns.all, pages, parts, form)

    @staticmethod
    async def compare(
        job_id: int,
        columns: Sequence[str],
        pages: AsyncIterator[Sequence[Mapping[str, Any]]],
        parts: Sequence[Source],
        form: RowForm,
    ) -> ExportCheckReport:
        comparison = _Comparison(columns, parts, form)
        try:
            async for rows in pages:
                await in_thread(partial(comparison.take, rows))
                if comparison.difference:
                    break
            else:
                await in_thread(comparison.end)
        finally:
            comparison.close()
        return ExportCheckReport(
            job_id, comparison.rows, comparison.digest.hexdigest(), comparison.difference
        )

    async def _pages(
        self, job_id: int, columns: Columns
    ) -> AsyncIterator[Sequence[Mapping[str, Any]]]:
        after_id = 0
        while page := await self._reads.export_rows(job_id, after_id, self.PAGE):
            yield [columns.row(row) for row in page]
            after_id = page[-1].id


class _Comparison:
    def __init__(self, columns: Sequence[str], parts: Sequence[Source], form: RowForm) -> None:
        self._columns = columns
        self._form = form
        self._found = chain.from_iterable(map(self._read, parts))
        self.rows = 0
        self.digest = hashlib.sha256()
        self.difference: str | None = None
        self._open: list[Any] = []

    def take(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self.digest.update(canonical(rows, self._columns))
        for row in rows:
            self.rows += 1
            line, values, problem = next(self._found, (0, None, None))
            if self.difference:
                return
            if values is None:
                self.difference = f"the file ends before row {self.rows:,}"
                return
            differs = problem or self._form.row_differs(self._columns, row, values)
            if differs:
                self.difference = f"row {self.rows:,} (line {line:,} of the file): {differs}"
                return

    def end(self) -> None:
        line, values, _ = next(self._found, (0, None, None))
        if values is not None and not self.difference:
            self.difference = f"line {line:,} of the file is a row that the store does not have"

    def close(self) -> None:
        for reader in self._open:
            reader.close()

    def _read(self, part: Source) -> Iterator[tuple[int, Mapping[str, Any] | None, str | None]]:
        reader = part.open()
        self._open.append(reader)
        batch = reader.take(ExportCheck.PAGE, _BYTES)
        self.difference = self._form.columns_differ(self._columns, reader.columns)
        while batch.values:
            for index, values in enumerate(batch.values):
                yield batch.lines[index], values, batch.problems.get(index)
            batch = reader.take(ExportCheck.PAGE, _BYTES)
        reader.close()
