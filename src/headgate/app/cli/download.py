"""`headgate download`: download the files of a list of identifiers into a folder."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from headgate.app.cli.exit_codes import Exit
from headgate.app.cli.inputs import STDIN, readable
from headgate.app.cli.options import option
from headgate.app.cli.run_job import RunJob
from headgate.app.cli.run_options import (
    Config,
    Delimiter,
    Eager,
    Encoding,
    EndJson,
    FailWhen,
    FileFormat,
    MaxStall,
    Name,
    New,
    Priority,
    RunJobOptions,
    Sheet,
    config_in,
)
from headgate.app.cli.run_result import FailOn
from headgate.app.cli.runtime import CliContext, command
from headgate.app.cli.worker import Concurrency, ItemTimeout, Processes, worker_flags
from headgate.app.download.inputs import format_of_head, kinds_in
from headgate.app.download.records import write_records
from headgate.app.handler_finder import HandlerFinder
from headgate.app.output_check import require_output
from headgate.app.settings import Settings
from headgate.core.download_folder import ATTEMPTS, MANIFEST
from headgate.core.errors import UsageError
from headgate.core.words import counted
from headgate.handlers.download.config import NAME, NameStyle
from headgate.handlers.download.identifier import IdentifierKind
from headgate.ports.handler import HandlerSpec
from headgate.ports.jobs import HistoryStore
from headgate.ports.source import Source
from headgate.transfer.sources import ReadOptions, open_source

FILES = "Which files"

IdentifierFile = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="DOIs, arXiv ids, PMCIDs, URLs: a list, CSV, JSON Lines, …; - is standard input.",
    ),
]
OutFolder = Annotated[
    Path,
    option("--out", "-o", panel=FILES, metavar="DIR", about="The folder for the files."),
]
Email = Annotated[
    str | None,
    option(
        "--email",
        panel=FILES,
        metavar="ADDRESS",
        about="Your email address, sent to services and hosts as a contact.",
    ),
]
Resolvers = Annotated[
    str | None,
    option(
        "--resolvers",
        panel=FILES,
        metavar="NAME[,NAME]",
        about="Resolvers to ask, in this order; default: all enabled ones.",
    ),
]
FileTypes = Annotated[
    str | None,
    option(
        "--types",
        panel=FILES,
        metavar="TYPE[,TYPE]",
        about="File types to keep: pdf, html, …; default: the type the resolver announces.",
    ),
]
MinBytes = Annotated[
    int | None,
    option("--min-bytes", panel=FILES, metavar="N", about="Reject smaller files."),
]
MaxBytes = Annotated[
    int | None,
    option("--max-bytes", panel=FILES, metavar="N", about="Reject larger files."),
]
HeadFirst = Annotated[
    bool, option("--head", panel=FILES, about="Send a HEAD request before each download.")
]
FileNames = Annotated[
    NameStyle | None, option("--names", panel=FILES, about="How files are named.")
]
ShowPlans = Annotated[
    bool,
    option("--dry-run", panel=FILES, about="Show where the files are; download nothing."),
]


async def download(
    cli: CliContext,
    *,
    file: IdentifierFile,
    out: OutFolder,
    email: Email = None,
    resolvers: Resolvers = None,
    types: FileTypes = None,
    min_bytes: MinBytes = None,
    max_bytes: MaxBytes = None,
    head: HeadFirst = False,
    names: FileNames = None,
    dry_run: ShowPlans = False,
    new: New = False,
    name: Name = "",
    config: Config = None,
    concurrency: Concurrency = None,
    processes: Processes = None,
    item_timeout: ItemTimeout = None,
    priority: Priority = 0,
    eager: Eager = False,
    file_format: FileFormat = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    fail_on: FailWhen = FailOn.ERROR,
    max_stall: MaxStall = 3_600.0,
    as_json: EndJson = False,
) -> Exit:
    """Download the files that FILE lists; run it again to resume or to check for changes."""
    settings = cli.load(*worker_flags(concurrency, processes, item_timeout)).settings
    given = config_in(config or []) | {
        "out": str(out.resolve()),
        **_chosen(email=email, min_bytes=min_bytes, max_bytes=max_bytes, names=names),
        **_chosen(resolvers=_words(resolvers), types=_words(types), head=head or None),
    }
    spec = HandlerFinder(settings, os.environ)(NAME).configured(given)
    async with readable(file, file_format, format_of_head) as (path, stated):
        reading = ReadOptions(stated, delimiter, encoding, sheet)
        source = open_source(path, reading, settings.limits)
        kinds = await asyncio.to_thread(kinds_in, source, file)
        if kinds - {IdentifierKind.URL}:  # a URL is looked up only by resolvers that were named
            _print_left_out(cli, spec)
        if dry_run:
            # Imported here: other commands need neither resolvers nor an HTTP client.
            from headgate.app.cli.download_plans import show_plans  # noqa: PLC0415

            return await show_plans(cli, settings, spec, source, as_json=as_json)
        options = RunJobOptions(
            file=path,
            source=file if file == STDIN else "",
            new=new,
            revisit=True,
            by_config=True,
            name=name or f"{NAME} {Path(file).name}",
            config=given,
            reading=reading,
            priority=priority,
            eager=eager,
            fail_on=fail_on,
            max_stall_s=max_stall,
            as_json=as_json,
        )
        return await _run(cli, settings, spec, source, options, out)


async def _run(
    cli: CliContext,
    settings: Settings,
    spec: HandlerSpec,
    source: Source,
    options: RunJobOptions,
    out: Path,
) -> Exit:
    _make(out)
    for record in (MANIFEST, ATTEMPTS):
        require_output(out / record, [options.file])
    async with cli.store(settings, create=True) as store:
        output = Records(store.history, out)
        return await RunJob(cli, settings, store, options).go(spec, source, output)


class Records:
    """Writes manifest.jsonl and attempts.jsonl, also after a run that was stopped early."""

    early = True
    notes: tuple[str, ...] = ()

    def __init__(self, history: HistoryStore, folder: Path) -> None:
        self._history = history
        self._folder = folder
        self.name = str(folder / MANIFEST)

    async def write(self, job_id: int) -> str:
        written = await write_records(self._history, job_id, self._folder)
        return f"{counted(written.lines, 'line')}; {ATTEMPTS} has {counted(written.steps, 'step')}"


def _print_left_out(cli: CliContext, spec: HandlerSpec) -> None:
    """Print the resolvers that lack a setting; disabled resolvers are not mentioned."""
    left_out: Mapping[str, str] = getattr(spec.call, "left_out", {})
    for name, why in left_out.items():
        if why.startswith("needs"):
            cli.screen.say(f"{name} is not used: it {why}")


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"--out {folder}: the folder cannot be created: {error.strerror}"
        ) from error


def _chosen(**values: Any) -> dict[str, Any]:
    """The options that were given. The handler's own defaults apply to the others."""
    return {name: value for name, value in values.items() if value is not None}


def _words(text: str | None) -> list[str] | None:
    return None if text is None else [word.strip() for word in text.split(",") if word.strip()]


def register(app: typer.Typer) -> None:
    examples = [
        "headgate download urls.txt --out papers/",
        "headgate download dois.csv --out papers/ --resolvers arxiv,crossref",
        "headgate download dois.csv --out papers/ --email me@example.org --dry-run",
        "cat urls.txt | headgate download - --out papers/ --json --quiet",
        "headgate download report 4",
        "headgate download verify papers/",
    ]
    command(app, "download", examples)(download)
