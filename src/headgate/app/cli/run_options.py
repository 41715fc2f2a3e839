"""Options that commands share which take a file of rows through a handler."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
import typer

from headgate.app.cli.options import ROWS, FormatName, option
from headgate.app.cli.run_result import FailOn
from headgate.app.cli.trial import MOST
from headgate.app.cli.worker import WORK
from headgate.core.config_schema import require_config
from headgate.core.errors import UsageError
from headgate.core.failing import ErrorLimit, error_limit
from headgate.engine.rows import OnBadRow
from headgate.ports.handler import HandlerSpec

IDENTITY = "Which job"
END = "When and how to end"

New = Annotated[bool, option("--new", panel=IDENTITY, about="Begin a new job instead of resuming.")]
Name = Annotated[
    str, option("--name", panel=IDENTITY, metavar="TEXT", about="What to call the job.")
]
Config = Annotated[
    list[str] | None,
    option(
        "--config",
        panel=WORK,
        metavar="JSON|KEY=VALUE",
        about="For the handler, as ctx.job.config; may be given again.",
    ),
]
Priority = Annotated[
    int, option("--priority", panel=WORK, about="Share among your jobs: each step doubles it.")
]
Eager = Annotated[
    bool, option("--eager", panel=WORK, about="Work on the first rows while the last are read.")
]
BadRows = Annotated[
    OnBadRow, option("--on-bad-row", panel=ROWS, about="What becomes of a row that is bad.")
]
FileFormat = Annotated[
    FormatName | None,
    option("--format", panel=ROWS, about="The format of FILE if its name does not tell."),
]
Delimiter = Annotated[
    str | None,
    option("--delimiter", panel=ROWS, metavar="CHAR", about="Between values of a CSV file."),
]
Encoding = Annotated[
    str | None, option("--encoding", panel=ROWS, metavar="NAME", about="Of FILE; default: UTF-8.")
]
Sheet = Annotated[
    str | None,
    option(
        "--sheet", panel=ROWS, metavar="NAME", about="Of a workbook; default: the first in use."
    ),
]
FailWhen = Annotated[FailOn, option("--fail-on", panel=END, about="What makes the exit code 3.")]
MaxStall = Annotated[
    float,
    option(
        "--max-stall",
        panel=END,
        metavar="S",
        about="End after S seconds in which no row could go on; the same command resumes.",
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
        help="Run only N rows spread over the file, each time the same ones.",
        rich_help_panel=WORK,
    ),
]
MaxErrors = Annotated[
    str | None,
    option(
        "--max-errors",
        panel=END,
        metavar="N|P%",
        about="Stop, resumable, when this many rows have failed, or this share of them.",
    ),
]
EndJson = Annotated[
    bool, option("--json", panel=END, about="End with one JSON object on standard output.")
]


OutFormat = Annotated[
    FormatName | None,
    option("--out-format", panel=ROWS, about="The format of --out if its name does not tell."),
]


def error_limit_in(text: str | None) -> ErrorLimit | None:
    """What `--max-errors` says; None if it was not given."""
    try:
        return None if text is None else error_limit(text)
    except ValueError as error:
        raise UsageError(f"--max-errors {text!r}: {error}") from error


def config_in(parts: list[str]) -> dict[str, Any]:
    """The configuration in JSON objects and KEY=VALUE pairs, later ones on top."""
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
    """The handler, if the config is what it declares; BadConfig names what is not."""
    if spec.for_job is None:  # else the handler itself reads it, and says more
        require_config(spec.config_schema, config)
    return spec


def _value(text: str) -> Any:
    """A value that reads as JSON is taken as JSON, so that 3 is a number; all else is text."""
    try:
        return msgspec.json.decode(text)
    except msgspec.MsgspecError:
        return text
