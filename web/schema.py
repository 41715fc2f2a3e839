"""Writes what the UI knows of the program, so that it is written down once.

    npm run schema

src/api/schema.ts has the types of the HTTP API, drawn from its OpenAPI document; src/api/moves.ts
has every status and every legal move. `tests/docs/test_web.py` says when they are not current.
"""
# ruff: noqa: INP001 (a script beside what it writes)

import hashlib
import json
import subprocess
from pathlib import Path

from headgate.app.api.application import document
from headgate.core.fault import FaultClass
from headgate.core.status import JOB_TRANSITIONS, TRANSITIONS, UNFINISHED, ItemStatus, JobState

WEB = Path(__file__).resolve().parent
SCHEMA = WEB / "src" / "api" / "schema.ts"
MOVES = WEB / "src" / "api" / "moves.ts"

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


def moves() -> str:
    """The file of statuses and moves."""
    job_moves = {move: sorted(sources) for move, (sources, _) in JOB_TRANSITIONS.items()}
    item_moves = {move: sorted(sources) for move, (sources, _) in TRANSITIONS.items()}
    lists = {
        "JOB_STATES": [*JobState],
        "ITEM_STATUSES": [*ItemStatus],
        "FAULT_CLASSES": [*FaultClass],
        "UNFINISHED": [state for state in JobState if state in UNFINISHED],
        "JOB_MOVES": job_moves,
        "ITEM_MOVES": item_moves,
    }
    lines = [f"export const {name} = {json.dumps(each)} as const;" for name, each in lists.items()]
    return "\n".join(["// Drawn by `npm run schema` from the program's own tables.", *lines, ""])


def main() -> None:
    """Write the file."""
    text = described()
    command = ["node", str(WEB / "node_modules/openapi-typescript/bin/cli.js"), *OPTIONS]
    drawn = subprocess.run(command, input=text, capture_output=True, text=True, check=True)  # noqa: S603
    SCHEMA.write_text(f"{head(text)}\n{drawn.stdout}")
    MOVES.write_text(moves())


if __name__ == "__main__":
    main()
