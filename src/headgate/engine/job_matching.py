"""Finds the job that a source belongs to: a new one, one to resume, or one that takes new rows."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path, PurePath
from typing import Any

import msgspec

from headgate.core.errors import OptionsChanged, SourceChanged, UsageError
from headgate.core.identity import (
    READING,
    Exists,
    OptionDifference,
    differences,
    has_moved,
    moved_path,
    options_refusal,
    same_config,
)
from headgate.core.job import Binding, Job, NewJob
from headgate.core.status import JobState
from headgate.ports.jobs import JobStore
from headgate.ports.reads import ReadStore

Options = Mapping[str, Any]
SameReading = Callable[[Options, Options], bool]
"""True if both options read a source in the same way, though they are written differently."""


class MatchKind(StrEnum):
    NEW = "new"
    RESUME = "resume"
    """The same bytes as before: go on from the stored position."""
    ADD = "add"
    """Other bytes under the same key columns: read all of them, add the new keys."""
    REREAD = "reread"
    """The same bytes, but their reading ended before the last row: read them again."""


class MatchedJob(msgspec.Struct, frozen=True):
    job: Job
    entry: MatchKind
    moved_from: str = ""
    """The earlier path of its source."""


class MatchRules(msgspec.Struct, frozen=True):
    fresh: bool = False
    """Always make a new job."""
    keyed: bool = False
    """The handler derives a key from each row."""
    by_config: bool = False
    """Another config means another job; otherwise it is refused."""
    by_content: bool = False
    """Other content means another job; otherwise it is refused, or adds rows."""
    same_reading: SameReading = lambda one, other: one == other
    exists: Exists = lambda path: Path(path).exists()
    home: str = ""
    """The folder of a store that is a file."""


def choose_match(
    new: NewJob, existing: Sequence[Job], rules: MatchRules | None = None
) -> tuple[MatchKind, Job | None]:
    """Choose the job for `new`, given the jobs of its owner, handler and source, newest first.

    Owner, handler, source, key columns and the options that decide the result identify a job; of
    several, the newest is chosen. OptionsChanged if all candidates have other options.
    """
    rules = rules or MatchRules()
    jobs = [job for job in existing if not job.open]
    if rules.by_config:
        jobs = [job for job in jobs if same_config(job, new)]
    if rules.by_content:
        jobs = [job for job in jobs if job.fingerprint == new.fingerprint]
    same = [job for job in jobs if job.key_columns == new.key_columns]
    if not same:
        _require_key(new, jobs)
        return MatchKind.NEW, None
    job = _with_options(new, same, rules)
    if job is None:
        return MatchKind.NEW, None
    if job.state is JobState.CANCELLED:
        raise UsageError(
            f"job {job.id} over this source was cancelled. Bring it back with `headgate jobs"
            f" reprocess {job.id} --status CANCELLED`, or start a new job with `--new`.",
        )
    if job.fingerprint != new.fingerprint:
        if not (new.key_columns or rules.keyed):
            raise SourceChanged(_changed(job))
        return MatchKind.ADD, job
    if job.ingest_complete or job.state in {JobState.INGESTING, JobState.PAUSED}:
        return MatchKind.RESUME, job
    return MatchKind.REREAD, job


def _with_options(new: NewJob, jobs: Sequence[Job], rules: MatchRules) -> Job | None:
    """The newest job that was made with these options; None if no candidate was ever read."""
    refused: tuple[Job, list[OptionDifference]] | None = None
    for job in jobs:
        found = _differences(job, new, rules)
        if not found:
            return job
        if refused is None and not _never_read(job):
            refused = job, found
    if refused is not None:
        raise OptionsChanged(options_refusal(*refused, handler=new.handler))
    return None


def _differences(job: Job, new: NewJob, rules: MatchRules) -> list[OptionDifference]:
    found = differences(job, new)
    reading = {f"--{name}" for name in READING}
    if any(each.option in reading for each in found) and rules.same_reading(
        _reading(job.options), _reading(new.options)
    ):
        return [each for each in found if each.option not in reading]
    return found


def _reading(options: Options | None) -> Options:
    return {name: options[name] for name in READING if name in options} if options else {}


def _never_read(job: Job) -> bool:
    """True if its source could never be read: there is nothing to resume."""
    return job.state is JobState.FAILED and not job.ingest_complete and job.ingest_run == 1


def _require_key(new: NewJob, jobs: Sequence[Job]) -> None:
    """Refuse another key for the same content: all rows would silently run again."""
    for job in jobs:
        if job.fingerprint == new.fingerprint and not _never_read(job):
            pairs = (",".join(job.key_columns) or None, ",".join(new.key_columns) or None)
            raise OptionsChanged(
                options_refusal(job, [OptionDifference("--key", *pairs)], new.handler)
            )


def _changed(job: Job) -> str:
    return (
        f"{job.source} has changed since job {job.id} was made. Its rows have no key, so old and"
        " new rows cannot be told apart. Start a new job with `--new`, or name the columns that"
        " identify a row with `--key COL[,COL]`: such a job adds new rows whenever its source"
        " changes."
    )


class JobMatching:
    def __init__(self, jobs: JobStore, reads: ReadStore) -> None:
        self._jobs = jobs
        self._reads = reads

    async def admit(self, new: NewJob, rules: MatchRules | None = None) -> MatchedJob:
        """Find or make the job; `new.fingerprint` identifies the content as it is now.

        SourceChanged if the content is different and neither key columns nor the handler give its
        rows a key; OptionsChanged if options that decide the result differ.
        """
        rules = rules or MatchRules()
        while True:
            # Another command may make the same job between our read and our write. The store
            # reports that, and the loop reads again.
            existing = [] if rules.fresh else await self._similar_jobs(new)
            entry, job = choose_match(new, existing, rules)
            if job is not None:
                return await self.enter(job, entry, new)
            if not rules.fresh and (moved := await self._moved(new, rules)):
                return moved
            newest = None if rules.fresh else max((each.id for each in existing), default=0)
            made = await self._jobs.create_job(msgspec.structs.replace(new, newest=newest))
            if not made.made_before:
                return MatchedJob(made, MatchKind.NEW)

    async def rebind(self, job: Job, binding: Binding) -> Job:
        """Give a job another handler and source, and its items the name of that handler."""
        bound = await self._jobs.rebind_job(job.id, binding)
        after_id = 0
        if bound.handler != job.handler:
            while after_id := await self._jobs.rebind_items(job.id, after_id):
                pass
        return bound

    async def _similar_jobs(self, new: NewJob) -> list[Job]:
        return await self._reads.find_jobs(new.owner, new.handler, new.source)

    async def enter(self, job: Job, entry: MatchKind, new: NewJob) -> MatchedJob:
        if entry in {MatchKind.ADD, MatchKind.REREAD}:
            job = await self._jobs.reopen_ingest(job.id, new.fingerprint)
        return MatchedJob(job, entry)

    async def _moved(self, new: NewJob, rules: MatchRules) -> MatchedJob | None:
        """The job of files that have moved; it is bound to their new path."""
        ending = f"/{PurePath(new.source).name}"
        found = await self._jobs.similar_jobs(new.owner, new.fingerprint, ending)
        candidates = {job.id: job for job in found if has_moved(job, new, rules.exists, rules.home)}
        here = [_as_moved(job, new) for job in candidates.values()]
        entry, job = choose_match(new, here, rules)
        if job is None:
            return None
        before = candidates[job.id]
        binding = Binding(job.handler, job.source, job.config, job.options)
        matched = await self.enter(await self.rebind(before, binding), entry, new)
        return msgspec.structs.replace(matched, moved_from=before.source)


def _as_moved(job: Job, new: NewJob) -> Job:
    """The job as it would be if it had been made where its files are now."""
    config = {
        name: moved_path(value, job, new) if isinstance(value, str) else value
        for name, value in job.config.items()
    }
    return msgspec.structs.replace(job, handler=new.handler, source=new.source, config=config)
