"""The real `headgate` executable, in a folder of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

EXECUTABLE = Path(sys.executable).with_name("headgate")


class Said(NamedTuple):
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on standard output."""
        return json.loads(self.out)


class Cli:
    """Runs commands in `folder`; what the caller's environment says about Headgate is left out."""

    def __init__(self, folder: Path, environment: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        kept = {name: text for name, text in os.environ.items() if not name.startswith("HEADGATE_")}
        self.environment = {**kept, "NO_COLOR": "1", **(environment or {})}

    def __call__(self, *arguments: str | Path, stdin: str | None = None) -> Said:
        """Run one command to its end."""
        with self.start(*arguments, stdin=subprocess.PIPE) as process:
            out, err = process.communicate(stdin, timeout=120)
            return Said(process.returncode, out, err)

    def start(
        self, *arguments: str | Path, stdin: int = subprocess.DEVNULL
    ) -> subprocess.Popen[str]:
        """Start a command; the caller waits for it."""
        return subprocess.Popen(
            [EXECUTABLE, *map(str, arguments)],
            cwd=self.folder,
            env=self.environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def write(self, name: str, text: str) -> Path:
        """Put a file into the folder."""
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path
