"""Which commit froze our pacer, and which providers it is therefore judged on."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

from benchmarks.scripts import ROOT

CORE = ROOT / "src" / "headgate" / "core"
PREFIX = "headgate.core."
DRAWS = 3
DIGITS = 8


def pacer_files() -> list[Path]:
    """The modules of `core/pacing`, and everything in the core that they import."""
    found: set[Path] = set()
    waiting = sorted((CORE / "pacing").glob("*.py"))
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += imported(file)
    return sorted(found)


def imported(file: Path) -> list[Path]:
    """The modules of the core that a module names in its imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
        elif isinstance(node, ast.Import):
            names |= {each.name for each in node.names}
    files = [
        CORE / f"{name.removeprefix(PREFIX).replace('.', '/')}.py"
        for name in names
        if name.startswith(PREFIX)
    ]
    return [each for each in files if each.exists()]


def frozen_commit() -> str:
    """The last commit that changed the pacer; empty while there is none."""
    return git("log", "-1", "--format=%H", "--", *map(str, pacer_files()))


def is_frozen() -> bool:
    """Whether the pacer on disk is the committed one."""
    return not git("status", "--porcelain", "--", *map(str, pacer_files()))


def seeds(commit: str) -> list[int]:
    """One for each draw: the commit id, eight hex digits at a time."""
    return [int(commit[i * DIGITS : (i + 1) * DIGITS], 16) for i in range(DRAWS)]


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()
