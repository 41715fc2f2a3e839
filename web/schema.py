"""Writes what the UI knows of the program, so that it is written down once.

    npm run schema

src/api/schema.ts has the types of the HTTP API, drawn from its OpenAPI document; src/api/moves.ts
has every status with its label, and every legal move; src/api/formats.ts has every format.
`tests/docs/test_web.py` fails if they are not current.
"""
# ruff: noqa: INP001 (a script beside what it writes)

import hashlib
import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

from pydantic.alias_generators import to_camel

from headgate.app.api.application import document
from headgate.core.fault import FaultClass
from headgate.core.status import (
    ITEM_DISPLAY,
    JOB_DISPLAY,
    JOB_TRANSITIONS,
    OPEN,
    RETRIED,
    TRANSITIONS,
    UNFINISHED,
    ItemStatus,
    JobState,
    StatusDisplay,
)
from headgate.transfer.formats.registry import FORMATS, IMAGES, WRITABLE

WEB = Path(__file__).resolve().parent
SCHEMA = WEB / "src" / "api" / "schema.ts"
MOVES = WEB / "src" / "api" / "moves.ts"
FORMATS_FILE = WEB / "src" / "api" / "formats.ts"

OPTIONS = ["--alphabetize", "--default-non-nullable", "false"]


def head(text: str) -> str:
    """The first line of the file: which document the rest was drawn from."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f"// Drawn by `npm run schema` from the document {digest}."


def described() -> str:
    """The document as text that is the same for the same API; releases alone do not change it."""
    api = document()
    api["info"]["version"] = ""
    return json.dumps(api, sort_keys=True)


def displayed(table: Mapping[str, StatusDisplay]) -> dict[str, dict[str, str]]:
    """How each status is shown: label, colour, icon, tooltip, and the words after 1 and after 2.

    `counter` is the name of its number in the counts of a job.
    """
    return {
        status: {
            "label": each.label,
            "tone": each.tone,
            "icon": each.icon,
            "help": each.help,
            "one": each.noun(1),
            "many": each.noun(2),
            "counter": to_camel(status.lower()),
        }
        for status, each in table.items()
    }


def moves() -> str:
    """The file of statuses and moves."""
    job_moves = {move: sorted(sources) for move, (sources, _) in JOB_TRANSITIONS.items()}
    item_moves = {move: sorted(sources) for move, (sources, _) in TRANSITIONS.items()}
    lists = {
        "JOB_STATES": [*JobState],
        "ITEM_STATUSES": [*ItemStatus],
        "OPEN": [status for status in ItemStatus if status in OPEN],
        "RETRIED": [status for status in ItemStatus if status in RETRIED],
        "ITEM_DISPLAY": displayed(ITEM_DISPLAY),
        "JOB_DISPLAY": displayed(JOB_DISPLAY),
        "FAULT_CLASSES": [*FaultClass],
        "UNFINISHED": [state for state in JobState if state in UNFINISHED],
        "JOB_MOVES": job_moves,
        "ITEM_MOVES": item_moves,
    }
    return constants(lists)


def formats() -> str:
    """The file of formats: their names with their labels, and the endings of file names."""
    lists = {
        "READ_FORMATS": {name: each.label for name, each in FORMATS.items()},
        "WRITTEN_FORMATS": {name: FORMATS[name].label for name in WRITABLE},
        "READ_ENDINGS": [each.endings[0] for name, each in FORMATS.items() if name != IMAGES],
    }
    return constants(lists)


def constants(values: Mapping[str, object]) -> str:
    lines = [f"export const {name} = {json.dumps(each)} as const;" for name, each in values.items()]
    return "\n".join(["// Drawn by `npm run schema` from the program's own tables.", *lines, ""])


def main() -> None:
    """Write the file."""
    text = described()
    command = ["node", str(WEB / "node_modules/openapi-typescript/bin/cli.js"), *OPTIONS]
    drawn = subprocess.run(command, input=text, capture_output=True, text=True, check=True)  # noqa: S603
    SCHEMA.write_text(f"{head(text)}\n{drawn.stdout}")
    MOVES.write_text(moves())
    FORMATS_FILE.write_text(formats())


if __name__ == "__main__":
    main()
