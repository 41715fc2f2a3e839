"""What a process loads before it begins: nothing that it may never need.

Hundreds of them are started in a day of work, and most of what a quick one does is to load code.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from headgate.transfer.formats.registry import FORMATS

SERVING = frozenset(
    {"fastapi", "starlette", "uvicorn", "pydantic", "sse_starlette", "prometheus_client"}
)
ASKING = frozenset({"aiohttp", "hishel", "protego", "publicsuffixlist"})
FILES = frozenset({"fsspec", "pyarrow", "python_calamine", "rustpy_xlsxwriter", "paramiko"})
STORES = frozenset({"psycopg", "psycopg_pool", "redis"})
LOGGING = frozenset({"structlog", "attr", "rich.traceback"})
TERMINAL = frozenset({"rich.console", "rich.table", "rich.live", "typer.rich_utils", "pygments"})
TABLES = frozenset({"idna", "email", "zipfile", "importlib.metadata", "importlib.resources"})
"""Of the standard library and its like: each brings much along that few commands need."""
SELDOM = SERVING | ASKING | FILES | STORES | LOGGING | TERMINAL | TABLES | {"psutil", "tomllib"}

IMPORTED = re.compile(r"^import '([^']+)' #", re.MULTILINE)
"""What a verbose interpreter says of a module that it has loaded."""


def loaded_by(folder: Path, *words: str) -> set[str]:
    """The modules that a command loads, with the processes that it starts."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("HEADGATE_")}
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        env={**kept, "PYTHONVERBOSE": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    return set(IMPORTED.findall(done.stderr))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rows.csv").write_text("id\n1\n2\n")
    (tmp_path / "double.py").write_text(
        "def twice(item, ctx):\n    return {'twice': 2 * int(item.input['id'])}\n"
    )
    return tmp_path


def test_the_version_needs_no_command_line(folder: Path):
    loaded = loaded_by(folder, "headgate", "--version")
    assert "headgate" in loaded
    assert not loaded & {"typer", "msgspec", "asyncio", "typing", "headgate.app"}


@pytest.mark.parametrize("words", [["--help"], ["jobs", "ls", "--help"]])
def test_help_needs_no_loop_no_store_and_no_terminal(folder: Path, words: list[str]):
    loaded = loaded_by(folder, "headgate", *words)
    assert "headgate.app.cli.help_page" in loaded
    assert not loaded & {"rich.console", "typer.rich_utils", "uvloop", "apsw", "psutil"}
    assert not loaded & {"headgate.app.cli.run", "headgate.app.cli.users", "headgate.app.local"}


def test_the_help_of_all_commands_loads_none_of_them(folder: Path):
    loaded = loaded_by(folder, "headgate", "--help")
    shared = {"commands", "exit_codes", "help_page", "output", "render", "render.tables", "runtime"}
    prefix = "headgate.app.cli."
    commands = {name.removeprefix(prefix) for name in loaded if name.startswith(prefix)}
    assert commands == shared
    assert "asyncio" not in loaded


@pytest.mark.parametrize("words", [["run"], ["export"]])
def test_help_lists_formats_without_a_reader_or_writer(folder: Path, words: list[str]):
    loaded = loaded_by(folder, "headgate", *words, "--help")
    formats = "headgate.transfer.formats."
    assert f"{formats}registry" in loaded
    named = {each for one in FORMATS.values() for each in (one.reader, one.writer) if each}
    assert not loaded & {formats + each.partition(":")[0] for each in named}
    assert not loaded & FILES


def test_a_run_and_its_worker_load_what_they_use(folder: Path):
    loaded = loaded_by(folder, "headgate", "run", "double.py:twice", "rows.csv")
    assert {"headgate.app.cli.run", "headgate.engine.engine", "headgate.app.http_factory"} <= loaded
    assert not loaded & SELDOM
    assert not loaded & {"headgate.app.cli.users", "headgate.app.cli.providers"}


def test_a_question_loads_no_worker_and_no_other_command(folder: Path):
    loaded_by(folder, "headgate", "db", "migrate")
    loaded = loaded_by(folder, "headgate", "jobs", "ls")
    assert "headgate.app.cli.jobs" in loaded
    assert not loaded & SELDOM
    assert not loaded & {"headgate.app.cli.run", "headgate.app.cli.download"}
    assert not loaded & {"headgate.app.cli.worker", "headgate.engine.supervisor", "ctypes"}


@pytest.mark.parametrize(
    "module", ["processes.worker", "processes.file_worker", "processes.supervisor"]
)
def test_a_process_behind_the_api_does_not_load_the_api(tmp_path: Path, module: str):
    done = subprocess.run(
        [sys.executable, "-c", f"import sys, headgate.app.{module}; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stdout.split())
    assert f"headgate.app.{module}" in loaded
    assert not loaded & (SELDOM | {"typer", "rich", "headgate.app.api"})
