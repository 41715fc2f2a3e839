"""The peers' own environment: locked by hash, apart from ours, made on first use."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.measurement import FailedError, UnavailableError
from benchmarks.scripts import ROOT

FOLDER = ROOT / ".venv-bench"
LOCK = ROOT / "benchmarks" / "requirements.txt"
STAMP = FOLDER / ".lock-digest"


def python() -> Path:
    return FOLDER / "bin" / "python"


def is_current() -> bool:
    """Whether the environment was made from the lock file as it is now."""
    return STAMP.exists() and STAMP.read_text() == digest()


def digest() -> str:
    return hashlib.sha256(LOCK.read_bytes()).hexdigest()


def require() -> Path:
    if not is_current():
        raise UnavailableError("the peers' environment is absent; `make bench` makes it")
    return python()


def prepare() -> None:
    """Make or refresh the environment; uv where present, plain pip else."""
    if is_current():
        return
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if uv:
        call(uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(FOLDER))
        call(uv, "pip", "sync", "--quiet", "--python", str(python()), "--require-hashes", str(LOCK))
    else:
        call(sys.executable, "-m", "venv", "--clear", str(FOLDER))
        pip = (str(python()), "-m", "pip", "--disable-pip-version-check")
        call(*pip, "install", "--quiet", "--require-hashes", "--requirement", str(LOCK))
    (FOLDER / ".gitignore").write_text("*\n")
    STAMP.write_text(digest())


def call(*command: str) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise FailedError(f"{' '.join(command[:3])} failed: {done.stderr.strip()[-500:]}")
