"""Warns of lookup columns that stay empty, most likely because their path is mistyped."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from headgate.core.failing import FIRST_ROWS
from headgate.core.status import ItemStatus
from headgate.core.words import counted
from headgate.ports.reads import ItemQuery, ReadStore

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class EmptyColumns:
    def __init__(self, reads: ReadStore, job_id: int, paths: Mapping[str, str]) -> None:
        self._reads = reads
        self._job_id = job_id
        self._paths = paths
        self._done = not paths

    async def check(self, done: int, *, at_end: bool = False) -> list[str]:
        """Warnings, returned once; `at_end` checks even fewer results than `FIRST_ROWS`."""
        if self._done or not done or (done < FIRST_ROWS and not at_end):
            return []
        self._done = True
        query = ItemQuery(
            job_id=self._job_id,
            statuses=frozenset({ItemStatus.DONE}),
            with_result=True,
            limit=FIRST_ROWS,
        )
        page = await self._reads.items(query)
        results = [_decode(row.result) for row in page.items if row.result]
        return [
            f"the column {name!r} is empty in all of the first {counted(len(results), 'result')}:"
            f" does its path {self._paths[name]!r} match the reply?"
            for name in empty_in(results, list(self._paths))
        ]


def empty_in(results: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> list[str]:
    if not results:
        return []
    return [name for name in columns if all(result.get(name) is None for result in results)]
