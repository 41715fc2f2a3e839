"""`headgate extract` as a user runs it, and what its mirrors hold afterwards."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from headgate.core.job import LOCAL_OWNER
from headgate.ports.mirrors import Checkpoint, RowQuery, StoredRow
from headgate.ports.store import Store
from tests.kit.command import Command, Ended
from tests.kit.project import Project

FAST = ("--rate", "1000/s")
"""A limit that no test reaches, in place of one that is learned or that a source states."""
PLENTY = 1_000_000


class PassSummary(NamedTuple):
    """What `headgate extract --json` said."""

    code: int
    said: Mapping[str, Any]
    talk: str

    @property
    def streams(self) -> dict[str, dict[str, Any]]:
        return {each["stream"]: each for each in self.said["streams"]}

    @property
    def proofs(self) -> dict[str, str | None]:
        return {name: each["proof"] for name, each in self.streams.items()}

    def numbers(self, stream: str) -> tuple[int, int, int]:
        """Rows that were added, changed and unchanged."""
        found = self.streams[stream]
        return found["added"], found["changed"], found["unchanged"]


class Extraction:
    """The passes of one source, in one project."""

    def __init__(self, project: Project, source: str, *words: str) -> None:
        self.project = project
        self.mirror = Path(source).stem
        self._words = ["extract", source, *words, "--json"]

    def start(self, *words: str) -> Command:
        return self.project.start(*self._words, *words)

    def run(self, *words: str) -> PassSummary:
        """One run of the command, to its end, with whatever code."""
        return summary(self.project.run(*self._words, *words))

    def complete(self, *words: str) -> PassSummary:
        """One run of the command, which must complete every stream with a proof."""
        done = self.run(*words)
        assert done.code == 0, done.talk
        assert None not in done.proofs.values()
        return done

    def stored(self, stream: str, *, deleted: bool = False) -> list[StoredRow]:
        async def rows(store: Store) -> list[StoredRow]:
            mirror = await store.mirrors.mirror(LOCAL_OWNER, self.mirror)
            assert mirror is not None
            streams = {each.name: each.id for each in await store.mirrors.streams(mirror.id)}
            query = RowQuery(streams[stream], limit=PLENTY, deleted=deleted)
            return await store.mirrors.rows(query)

        return self.project.ask(rows)

    def live(self, stream: str) -> dict[str, Any]:
        """The bodies of live rows by their id."""
        return {row.id: json.loads(row.body) for row in self.stored(stream)}

    def deleted(self, stream: str) -> set[str]:
        """The ids of rows that the mirror has as deleted."""
        found = self.stored(stream, deleted=True)
        return {row.id for row in found if row.deleted_at is not None}

    def checkpoint(self, stream: str, job_id: int) -> Checkpoint:
        found = self.project.ask(lambda store: store.mirrors.checkpoints(job_id))
        return next(each for each in found if each.name == stream)

    def errors(self, job_id: int = 1) -> dict[str, str]:
        """Why pages failed, by their key."""
        items = self.project.items(job_id)
        return {each.key: each.last_error or "" for each in items if each.status == "ERROR"}


def summary(ended: Ended) -> PassSummary:
    """What a command said; a test that expects no summary asks for the command itself."""
    assert ended.out, ended.err
    return PassSummary(ended.code, ended.json, ended.err)
