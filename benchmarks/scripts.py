"""Start a measuring program and read the one JSON line that it ends with."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measurement import FailedError, Values

ROOT = Path(__file__).resolve().parent.parent
LIMIT_S = 1_800


def last_line(output: str, program: str) -> dict[str, Any]:
    lines = output.strip().splitlines()
    if not lines:
        raise FailedError(f"{program} printed nothing")
    try:
        parsed = json.loads(lines[-1])
    except ValueError as error:
        raise FailedError(f"{program} ended with {lines[-1]!r}") from error
    if not isinstance(parsed, dict):
        raise FailedError(f"{program} ended with {lines[-1]!r}")
    return parsed


def run_script(python: Path, script: Path, arguments: Mapping[str, object]) -> dict[str, Any]:
    """Run a script with `--name value` arguments; a flag is True, or False to be left out."""
    options: list[str] = []
    for name, value in arguments.items():
        if isinstance(value, bool):
            options += [f"--{name}"] * value
        else:
            options += [f"--{name}", str(value)]
    return read_script([str(python), str(script), *options], script.name)


def run_module(module: str, arguments: Mapping[str, object]) -> dict[str, Any]:
    """Run one of our own modules in a process of its own, as every contender is."""
    options = [part for name, value in arguments.items() for part in (f"--{name}", str(value))]
    return read_script([sys.executable, "-m", module, *options], module)


def read_script(command: Sequence[str], name: str) -> dict[str, Any]:
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=LIMIT_S
        )
    except subprocess.TimeoutExpired as error:
        raise FailedError(f"{name} did not end within {LIMIT_S} s") from error
    if done.returncode:
        words = done.stderr.strip().splitlines() or ["no message"]
        raise FailedError(f"{name} ended with {done.returncode}: {words[-1]}")
    return last_line(done.stdout, name)


def numbers(report: Mapping[str, Any], *names: str) -> Values:
    return {name: float(report[name]) for name in names}
