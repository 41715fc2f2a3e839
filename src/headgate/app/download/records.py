"""Write `manifest.jsonl` and `attempts.csv` from the store, page by page."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

from headgate.app.download.manifest import first_key, is_duplicate, manifest_line, steps_of
from headgate.engine.threads import in_thread
from headgate.ports.jobs import HistoryStore, ItemHistory
from headgate.ports.reads import ExportRow
from headgate.transfer.artifacts.records import attempts_file, manifest_file

PAGE = 1_000
"""Items per page."""

Firsts = Mapping[str, ExportRow]


class Written(msgspec.Struct):
    lines: int = 0
    steps: int = 0


async def write_records(history: HistoryStore, job_id: int, root: Path) -> Written:
    """Write both records of a job into a folder.

    The store alone determines the content, and each file is replaced when it is complete.
    """
    files = _Files(root)
    try:
        await in_thread(files.open)
        after_id = 0
        while page := await history.page(job_id, after_id, PAGE):
            firsts = await firsts_of(history, job_id, page)
            await in_thread(partial(files.write, page, firsts))
            after_id = page[-1].row.id
        await in_thread(files.commit)
    except BaseException:
        files.abandon()
        raise
    return files.written


async def firsts_of(history: HistoryStore, job_id: int, page: Sequence[ItemHistory]) -> Firsts:
    keys = {first_key(each.row) for each in page if is_duplicate(each.row)}
    if not keys:
        return {}
    return {row.key: row for row in await history.by_key(job_id, sorted(keys))}


class _Files:
    """Both record files."""

    def __init__(self, root: Path) -> None:
        self._manifest = manifest_file(root)
        self._attempts = attempts_file(root)
        self.written = Written()

    def open(self) -> None:
        self._manifest.open()
        self._attempts.open()

    def write(self, page: Sequence[ItemHistory], firsts: Firsts) -> None:
        lines = (manifest_line(each, firsts.get(first_key(each.row))) for each in page)
        finished = [line for line in lines if line is not None]
        steps = [step for each in page for step in steps_of(each)]
        self._manifest.write(finished)
        self._attempts.write(steps)
        self.written.lines += len(finished)
        self.written.steps += len(steps)

    def commit(self) -> None:
        self._manifest.commit()
        self._attempts.commit()

    def abandon(self) -> None:
        self._manifest.abandon()
        self._attempts.abandon()
