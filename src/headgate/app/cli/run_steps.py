"""What `headgate run` does before a job begins: handler, source, output, job."""

import asyncio
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from headgate.app.address_check import require_public
from headgate.app.cli.exit_codes import Exit
from headgate.app.cli.inputs import readable, require_order, table_format
from headgate.app.cli.job_choice import NamedJob, ReadAlready
from headgate.app.cli.run_checks import require_columns, wrong_encoding
from headgate.app.cli.run_job import RunJob
from headgate.app.cli.run_options import RunJobOptions, require_fitting
from headgate.app.cli.run_result import ExportFile
from headgate.app.cli.runtime import CliContext
from headgate.app.cli.trial import Trial
from headgate.app.data_folder import LOCAL, JobFiles, data_folder
from headgate.app.output_check import require_output
from headgate.app.settings import Settings
from headgate.core.errors import BadSource, UsageError
from headgate.engine.job_runtime import REUSE, reuse_in
from headgate.handlers.registry import resolve
from headgate.ports.handler import HandlerSpec
from headgate.ports.source import RowWriter, Source
from headgate.ports.store import Store
from headgate.transfer.blobs import StoreSink
from headgate.transfer.files import STDOUT
from headgate.transfer.sources import STREAMED, WriteOptions, format_of, open_source, open_writer


class RunRequest(NamedTuple):
    out: Path | None
    options: WriteOptions
    limit: int | None = None
    """Run only this number of first rows."""
    sample: int | None = None
    """Run only this number of rows, spread over the file."""


class Named(NamedTuple):
    job_id: int
    handler: str | None
    file: str | None


class _Opened(NamedTuple):
    source: Source
    writer: RowWriter | None


async def run_file(
    cli: CliContext, settings: Settings, handler: str, options: RunJobOptions, wanted: RunRequest
) -> Exit:
    # All checks of the command come before anything is written.
    own = {name: value for name, value in options.config.items() if name != REUSE}
    spec = require_fitting(resolve(handler, settings.handlers), own).configured(options.config)
    reuse_in(options.config, spec)
    require_public(spec, allow_private=settings.net.allow_private)
    file = options.source or str(options.file)
    async with readable(file, options.reading.format, table_format) as (path, stated):
        reading = replace(options.reading, format=stated)
        options = replace(options, file=path, reading=reading)
        opened = _open(cli, settings, spec, options, wanted)
        try:
            await require_columns(spec, opened.source, path)
        except BadSource as error:  # for example a header in another encoding
            raise (
                await wrong_encoding(path, path.name, reading, settings.limits)
            ) or error from None
        async with cli.store(settings, create=True) as store:
            trial = Trial(store.rows, wanted.limit, wanted.sample)
            output = _output(cli, store, opened, wanted, trial)
            return await RunJob(cli, settings, store, options, trial).go(
                spec, opened.source, output
            )


async def run_named(
    cli: CliContext, settings: Settings, named: Named, options: RunJobOptions, wanted: RunRequest
) -> Exit:
    if named.handler and named.file:
        require_order(named.handler, named.file)
    async with cli.store(settings) as store:
        job = NamedJob(store, settings, await store.reads.job(named.job_id))
        spec = job.spec(named.handler)
        options = job.options(options)
        if named.file is None and not job.job.ingest_complete:
            _require_source(job)
            options = replace(options, file=Path(job.job.source))
        if named.file is None and job.job.ingest_complete:
            place = Path(job.job.source)
            opened = _Opened(ReadAlready(job.job), _writer(wanted, spec, [place]))
            source = None
        else:
            opened = _open(cli, settings, spec, options, wanted)
            source = opened.source
        rebind = named.handler is not None
        matched = await job.admit(spec, options, source, rebind=rebind)
        trial = Trial(store.rows, wanted.limit, wanted.sample)
        output = _output(cli, store, opened, wanted, trial)
        run = RunJob(cli, settings, store, options, trial)
        return await run.go(spec, opened.source, output, matched)


def _require_source(job: NamedJob) -> None:
    if not Path(job.job.source).exists():
        number = job.job.id
        raise UsageError(
            f"the source of job {number} was not read to its end, and its file"
            f" {job.job.source} does not exist; name it: headgate run --job {number} HANDLER FILE"
        )


def _open(
    cli: CliContext,
    settings: Settings,
    spec: HandlerSpec,
    options: RunJobOptions,
    wanted: RunRequest,
) -> _Opened:
    blobs = JobFiles(data_folder(settings), cli.clock).space(LOCAL)
    sink = StoreSink(blobs, asyncio.get_running_loop())
    source = open_source(options.file, options.reading, settings.limits, sink)
    if wanted.out == STDOUT and wanted.options.format is None:
        found = format_of(options.file, options.reading.format)
        shown = replace(wanted.options, format=found if found in STREAMED else "csv")
        wanted = wanted._replace(options=shown)
    return _Opened(source, _writer(wanted, spec, [options.file]))


def _writer(wanted: RunRequest, spec: HandlerSpec, inputs: list[Path]) -> RowWriter | None:
    if wanted.out is None:
        return None
    options = wanted.options
    if wanted.out == STDOUT and options.format is None:
        options = replace(options, format="csv")
    writer = open_writer(wanted.out, options)
    handler = spec.reference.rpartition(":")[0] or spec.reference
    require_output(wanted.out, [*inputs, Path(handler)])
    return writer


def _output(
    cli: CliContext, store: Store, opened: _Opened, wanted: RunRequest, trial: Trial
) -> ExportFile | None:
    if opened.writer is None or wanted.out is None:
        return None
    return ExportFile(store, cli.clock, opened.writer, wanted.out, trial)
