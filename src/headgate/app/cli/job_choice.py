"""Finds the job that a command works on: by its file and options, or by its number."""

import asyncio
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict, replace

from headgate.app.cli.output import Output
from headgate.app.cli.render.times import span
from headgate.app.cli.run_checks import wrong_encoding
from headgate.app.settings import Settings
from headgate.app.wiring import sqlite_path, store_kind
from headgate.core.errors import BadSource, OptionsChanged, UnknownHandler, UsageError
from headgate.core.identity import BAD_ROWS, VERSION, OptionDifference, options_refusal
from headgate.core.job import Binding, Job, NewJob
from headgate.core.status import JobMove, JobState
from headgate.core.words import agreeing, counted
from headgate.engine.ingest import IngestReport
from headgate.engine.job_matching import (
    JobMatching,
    MatchedJob,
    MatchKind,
    MatchRules,
    choose_match,
)
from headgate.engine.rows import OnBadRow
from headgate.handlers.registry import DOWNLOAD, resolve
from headgate.ports.handler import HandlerSpec
from headgate.ports.source import BatchReader, Source
from headgate.ports.store import Store
from headgate.transfer.sources import ReadOptions, checked, reads_alike

if TYPE_CHECKING:
    from headgate.app.cli.run_options import RunJobOptions


STDIN = "-"


def stored_options(reading: ReadOptions, on_bad_row: OnBadRow, version: str) -> dict[str, Any]:
    found = {**_stated(reading), BAD_ROWS: str(on_bad_row)}
    return {**found, VERSION: version} if version else found


def _stated(reading: ReadOptions) -> dict[str, Any]:
    return {name: value for name, value in asdict(checked(reading)).items() if value is not None}


async def admit(
    store: Store, settings: Settings, options: "RunJobOptions", spec: HandlerSpec, source: Source
) -> MatchedJob:
    new = NewJob(
        handler=spec.reference,
        source=options.source or str(options.file.resolve()),
        name=options.name or f"{spec.name} {options.file.name}",
        key_columns=options.key_columns,
        config=options.config,
        priority=options.priority,
        eager=options.eager,
        fingerprint=await asyncio.to_thread(source.fingerprint),
        options=stored_options(_stated_reading(options), options.on_bad_row, spec.version),
    )
    return await JobMatching(store.jobs, store.reads).admit(new, _rules(settings, options, spec))


def _stated_reading(options: "RunJobOptions") -> ReadOptions:
    """The stored options; for standard input without the format, which may differ each time."""
    return replace(options.reading, format=None) if options.source == STDIN else options.reading


async def require_encoding(
    store: Store, settings: Settings, options: "RunJobOptions", matched: MatchedJob
) -> None:
    """Fail a new job whose file is not UTF-8, if no encoding was given."""
    if matched.entry is not MatchKind.NEW:
        return
    shown = "standard input" if options.source == STDIN else options.file.name
    wrong = await wrong_encoding(options.file, shown, options.reading, settings.limits)
    if wrong is not None:
        await store.jobs.move_job(matched.job.id, JobMove.FAIL, str(wrong))
        raise wrong


def _rules(settings: Settings, options: "RunJobOptions", spec: HandlerSpec) -> MatchRules:
    return MatchRules(
        fresh=options.new,
        keyed=spec.key_of is not None,
        by_config=options.by_config,
        by_content=options.source == STDIN and spec.key_of is None and not options.key_columns,
        same_reading=partial(_reads_alike, options, settings),
        home=store_folder(settings),
    )


def _reads_alike(
    options: "RunJobOptions", settings: Settings, one: Mapping[str, Any], other: Mapping[str, Any]
) -> bool:
    found = {"format": options.reading.format} if options.source == STDIN else {}
    return reads_alike(options.file, {**one, **found}, {**other, **found}, settings.limits)


def store_folder(settings: Settings) -> str:
    url = settings.database_url
    return str(Path(sqlite_path(url)).resolve().parent) if store_kind(url) == "sqlite" else ""


async def forget_unread(screen: Output, store: Store, job_id: int) -> None:
    """Delete a job whose source cannot be read, unless some of its rows have run."""
    counts = await store.reads.counts(job_id)
    if counts.total == counts.pending + counts.error:
        while await store.jobs.delete_job(job_id):
            pass
        screen.say(f"job {job_id} was deleted: its file cannot be read with these options")


def print_match(screen: Output, matched: MatchedJob, finished: int) -> None:
    job = matched.job
    if matched.moved_from:
        screen.say(f"job {job.id} was created from {matched.moved_from}, which was moved here")
    if matched.entry is MatchKind.NEW:
        screen.say(f"job {job.id}: {job.name}")
        return
    what = {
        MatchKind.RESUME: "resuming",
        MatchKind.ADD: "the file changed: adding its new rows to",
        MatchKind.REREAD: "reading the file again for",
    }[matched.entry]
    rows = f"{counted(finished, 'row')} {agreeing(finished, 'is', 'are')}"
    kept = f": {rows} already finished" if finished else ""
    screen.say(f"{what} job {job.id}{kept}")


class ReadAlready:
    """The source of a job whose rows are all stored: there is nothing left to read."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def fingerprint(self) -> str:
        return self._job.fingerprint

    def open(self, position: str = "") -> BatchReader:
        raise BadSource(
            f"the source of job {self._job.id} was not read to its end ({position or 'start'});"
            f" name its file: headgate run --job {self._job.id} HANDLER FILE"
        )


class NamedJob:
    """A job that is resumed by its number, perhaps with a handler or a file that was moved."""

    def __init__(self, store: Store, settings: Settings, job: Job) -> None:
        self.job = job
        self._store = store
        self._settings = settings
        _require_batch(job)

    def spec(self, handler: str | None) -> HandlerSpec:
        job = self.job
        try:
            spec = resolve(handler or job.handler, self._settings.handlers)
        except UnknownHandler as error:
            if handler:
                raise
            raise UnknownHandler(
                f"the handler of job {job.id} cannot be loaded: {error}; if it was moved,"
                f" name it: headgate run --job {job.id} path/to/file.py:function"
            ) from error
        return spec.configured(job.config)

    def options(self, given: "RunJobOptions") -> "RunJobOptions":
        """The options of the command, over the stored options of the job."""
        job, stored = self.job, self.job.options or {}
        reading = _stated(given.reading)
        kept = {name: stored[name] for name in asdict(ReadOptions()) if name in stored}
        on_bad_row = given.on_bad_row
        if on_bad_row is OnBadRow.ITEM_ERROR and BAD_ROWS in stored:
            on_bad_row = OnBadRow(stored[BAD_ROWS])
        if given.new:
            raise UsageError("--job resumes a job and --new starts another: leave out one")
        if given.key_columns and given.key_columns != job.key_columns:
            pair = (",".join(job.key_columns) or None, ",".join(given.key_columns))
            raise OptionsChanged(
                options_refusal(job, [OptionDifference("--key", *pair)], job.handler)
            )
        return replace(
            given,
            reading=ReadOptions(**{**kept, **reading}),
            on_bad_row=on_bad_row,
            config=given.config or job.config,
            key_columns=job.key_columns,
            name=job.name,
        )

    async def admit(
        self, spec: HandlerSpec, options: "RunJobOptions", source: Source | None, *, rebind: bool
    ) -> MatchedJob:
        """The job, with the named handler and file if they were given."""
        job = self.job
        bound = bound_to(job, spec) if rebind else job
        bound = replace(
            bound, source=str(options.file.resolve()) if source is not None else job.source
        )
        new = NewJob(
            handler=bound.handler,
            source=bound.source,
            key_columns=job.key_columns,
            config=options.config,
            fingerprint=await asyncio.to_thread((source or ReadAlready(job)).fingerprint),
            options=stored_options(options.reading, options.on_bad_row, spec.version),
        )
        rules = _rules(self._settings, options, spec)
        entry, _ = choose_match(new, [bound], rules)  # raises before anything is changed
        matching = JobMatching(self._store.jobs, self._store.reads)
        if bound != job:
            bound = await matching.rebind(job, binding_of(bound))
        if source is None:
            return MatchedJob(bound, MatchKind.RESUME)
        return await matching.enter(bound, entry, new)


def bound_to(job: Job, spec: HandlerSpec) -> Job:
    options = None
    if job.options is not None:
        version = {VERSION: spec.version} if spec.version else {}
        options = {name: value for name, value in job.options.items() if name != VERSION} | version
    return replace(job, handler=spec.reference, options=options)


def binding_of(job: Job) -> Binding:
    return Binding(job.handler, job.source, job.config, job.options)


def _require_batch(job: Job) -> None:
    if job.open:
        raise UsageError(
            f"job {job.id} is a queue: work on it with `headgate queue run --queue {job.name}`"
        )
    if job.mirror_id is not None:
        raise UsageError(f"job {job.id} is a pass: run the same `headgate extract` again")
    if job.handler == DOWNLOAD:
        raise UsageError(f"job {job.id} is a download: run the same `headgate download` again")
    if job.reading is not None and not job.ingest_complete:
        raise UsageError(
            f"the server that created job {job.id} has not read its source to the end yet"
        )
    if job.state is JobState.CANCELLED:
        raise UsageError(
            f"job {job.id} was cancelled; run it again with `headgate jobs reprocess {job.id}"
            " --status CANCELLED`"
        )


def print_read(screen: Output, report: IngestReport, on_bad_row: OnBadRow) -> None:
    known = f", {report.known:,} already known" if report.known else ""
    screen.say(f"read {counted(report.rows, 'row')} in {span(report.seconds)}{known}")
    if report.same:
        asks = agreeing(report.same, "asks", "ask")
        rows = f"{counted(report.same, 'row')} {asks} for the same as an earlier one"
        screen.say(f"{rows}; each is fetched once")
    for note in report.notes:
        screen.say(note)
    if report.changed:
        lines = ", ".join(str(line) for line in report.changed_lines)
        more = ", …" if report.changed > len(report.changed_lines) else ""
        screen.warn(
            f"{counted(report.changed, 'row')} changed since the job was created; the stored"
            f" values are kept (lines {lines}{more}). `--new` starts a job with the new values"
        )
    if report.dropped:
        was = agreeing(report.dropped, "was", "were")
        screen.say(
            f"{counted(report.dropped, 'bad row')} {was} corrected in the file or removed from it"
        )
    for bad in report.bad_rows:
        screen.warn(str(bad))
    if report.bad:
        fate = "skipped" if on_bad_row is OnBadRow.SKIP else "kept as ERROR"
        screen.warn(f"{counted(report.bad, 'bad row')}, {fate}")
