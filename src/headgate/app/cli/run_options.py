"""Options that `run` and `download` share, and their values."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from headgate.app.cli.options import ROWS, option
from headgate.app.cli.run_result import FailOn
from headgate.app.cli.trial import MOST
from headgate.app.cli.worker import WORK
from headgate.core.config_schema import require_config
from headgate.core.errors import UsageError
from headgate.core.failing import ErrorLimit, error_limit
from headgate.engine.rows import OnBadRow
from headgate.ports.handler import HandlerSpec
from headgate.transfer.formats.registry import FormatName
from headgate.transfer.sources import ReadOptions

IDENTITY = "Which job"
END = "When and how to end"

New = Annotated[bool, option("--new", panel=IDENTITY, about="Start a new job instead of resuming.")]
Name = Annotated[str, option("--name", panel=IDENTITY, metavar="TEXT", about="A name for the job.")]
Config = Annotated[
    list[str] | None,
    option(
        "--config",
        panel=WORK,
        metavar="JSON|KEY=VALUE",
        about="Configuration for the handler, as ctx.job.config; may be repeated.",
    ),
]
Priority = Annotated[
    int,
    option(
        "--priority", panel=WORK, about="The job's share among your jobs; each step doubles it."
    ),
]
Eager = Annotated[
    bool, option("--eager", panel=WORK, about="Start to run rows before the whole file is read.")
]
BadRows = Annotated[
    OnBadRow, option("--on-bad-row", panel=ROWS, about="What to do with a row that cannot be read.")
]
FileFormat = Annotated[
    FormatName | None,
    option("--format", panel=ROWS, about="The format of FILE, if not clear from its name."),
]
Delimiter = Annotated[
    str | None,
    option("--delimiter", panel=ROWS, metavar="CHAR", about="The delimiter of a CSV file."),
]
Encoding = Annotated[
    str | None,
    option("--encoding", panel=ROWS, metavar="NAME", about="The encoding of FILE; default: UTF-8."),
]
Sheet = Annotated[
    str | None,
    option(
        "--sheet",
        panel=ROWS,
        metavar="NAME",
        about="The sheet of a workbook; default: the first with data.",
    ),
]
FailWhen = Annotated[
    FailOn, option("--fail-on", panel=END, about="Which outcomes make the exit code 3.")
]
MaxStall = Annotated[
    float,
    option(
        "--max-stall",
        panel=END,
        metavar="S",
        about="End after S seconds without progress; the same command resumes.",
    ),
]
FirstRows = Annotated[
    int | None,
    typer.Option(
        "--limit",
        metavar="N",
        min=1,
        max=MOST,
        help="Run only the first N rows; the same command without it runs the others.",
        rich_help_panel=WORK,
    ),
]
SampleRows = Annotated[
    int | None,
    typer.Option(
        "--sample",
        metavar="N",
        min=1,
        max=MOST,
        help="Run only N rows spread over the file, the same ones each time.",
        rich_help_panel=WORK,
    ),
]
MaxErrors = Annotated[
    str | None,
    option(
        "--max-errors",
        panel=END,
        metavar="N|P%",
        about="Stop when this number or share of rows has failed; the same command resumes.",
    ),
]
EndJson = Annotated[
    bool, option("--json", panel=END, about="Print a summary as one JSON object at the end.")
]


OutFormat = Annotated[
    FormatName | None,
    option("--out-format", panel=ROWS, about="The format of --out, if not clear from its name."),
]


class RunJobOptions(msgspec.Struct, frozen=True):
    file: Path
    source: str = ""
    """The name of the source in the job; if empty, the path of the file."""
    key_columns: tuple[str, ...] = ()
    new: bool = False
    retry_failed: bool = False
    revisit: bool = False
    """Run all rows again once all are finished; before that, only the failed ones."""
    by_config: bool = False
    """True if the same file with another config is another job."""
    name: str = ""
    config: Mapping[str, Any] = {}
    reading: ReadOptions = ReadOptions()
    priority: int = 0
    eager: bool = False
    on_bad_row: OnBadRow = OnBadRow.ITEM_ERROR
    fail_on: FailOn = FailOn.ERROR
    max_errors: ErrorLimit | None = None
    max_stall_s: float = 3_600.0
    as_json: bool = False


def error_limit_in(text: str | None) -> ErrorLimit | None:
    try:
        return None if text is None else error_limit(text)
    except ValueError as error:
        raise UsageError(f"--max-errors {text!r}: {error}") from error


def config_in(parts: list[str]) -> dict[str, Any]:
    """The configuration from JSON objects and KEY=VALUE pairs; later ones win."""
    config: dict[str, Any] = {}
    for part in parts:
        if part.lstrip().startswith("{"):
            try:
                config |= msgspec.json.decode(part, type=dict[str, Any])
            except msgspec.MsgspecError as error:
                raise UsageError(f"--config {part!r} is not a JSON object: {error}") from error
            continue
        name, equals, text = part.partition("=")
        if not equals or not name:
            raise UsageError(f"--config {part!r}: write a JSON object or KEY=VALUE")
        config[name] = _value(text)
    return config


def require_fitting(spec: HandlerSpec, config: Mapping[str, Any]) -> HandlerSpec:
    """The handler, if the config matches its schema; otherwise BadConfig."""
    if spec.for_job is None:  # otherwise the handler checks it, with better messages
        require_config(spec.config_schema, config)
    return spec


def _value(text: str) -> Any:
    """The value as JSON if it parses, so that 3 is a number; otherwise as text."""
    try:
        return msgspec.json.decode(text)
    except msgspec.MsgspecError:
        return text
