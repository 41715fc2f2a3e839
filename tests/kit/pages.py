"""Pages of documentation that are run: their files are written, their commands executed.

In a page
  - a fenced block with a title (```python title="lookup.py") is a file;
  - a `console` block has commands after `$ `, each followed by what it prints;
  - a `bash` block is a script;
  - a command's comment `# exit 3` says how it ends, if not with 0.

What a command prints is compared line by line, in order: `…` stands for anything, blanks for any
blanks, and lines may be left out after a line with `…` alone. Times, rates and dates may differ,
and lines of progress may come or not. A command behind `timeout -s INT` is interrupted when it has
settled a few items, whatever time that takes.
"""

import contextlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import psutil

from tests.kit.command import until
from tests.kit.service import end

ROOT = Path(__file__).parents[2]
FENCE = re.compile(
    r'^```(?P<language>\w*)[ \t]*(?:title="(?P<title>[^"]+)")?[^\n]*\n(?P<text>.*?)^```[ \t]*$',
    re.MULTILINE | re.DOTALL,
)
EXIT = re.compile(r"#\s*exit\s+(\d+)\s*$")
INTERRUPTED = re.compile(r"timeout --foreground --preserve-status -s INT \d+ (.*)")
SETTLED = re.compile(r"^finished (\d+) items?", re.MULTILINE)
ENOUGH = 5
"""After so many attempts a command is interrupted, unless its page says how many it settles."""
VARYING = (
    re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)"),
    re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"),
    re.compile(r"\b\d[\d,.]*\s*(?:ms|s|min|h)\b(?: ago)?"),
    re.compile(r"\b\d[\d,.]*/s"),
    re.compile(r"\b[0-9a-f]{12,}\b"),
)
ELLIPSIS = "…"
MARK = "PAGE_FOLDER"
"""The variable by which the processes of a page are found."""
PROGRESS = re.compile(
    r"[\d,]+ of [\d,]+ · |reading: |writing "
    r"|[\d,+]+ rows? failed and waits? for a retry|the first [\d,]+ rows all failed"
    r"|  \S+ +[\d,]+ (of [\d,]+ )?rows? · [\d,]+ pages?"
)


class Block(NamedTuple):
    """A fenced block."""

    language: str
    title: str | None
    text: str
    line: int


class Command(NamedTuple):
    """A command of a page, and what is said about it."""

    text: str
    shown: str
    exit_code: int
    line: int


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text("utf-8")
    for found in FENCE.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield Block(found["language"], found["title"], found["text"], line)


def commands(block: Block) -> Iterator[Command]:
    """The commands of a block; a `bash` block is one."""
    if block.language == "bash":
        yield Command(block.text, "", _exit_code(block.text), block.line)
        return
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, shown = _command_and_output(part)
        line = block.line + 1 + block.text[: block.text.index(part)].count("\n")
        yield Command(command, shown, _exit_code(command), line)


def _command_and_output(part: str) -> tuple[str, str]:
    lines = part.splitlines()
    end = 1
    while lines[end - 1].endswith("\\") and end < len(lines):
        end += 1
    return "\n".join(lines[:end]), "\n".join(lines[end:])


def _exit_code(command: str) -> int:
    found = EXIT.search(command)
    return int(found[1]) if found else 0


class PageRunner:
    """Runs a page in a folder of its own."""

    LONGEST_S = 120

    def __init__(self, folder: Path, replace: Mapping[str, str] | None = None) -> None:
        self._folder = folder
        self._replace = replace or {}
        kept = {name: value for name, value in os.environ.items() if "HEADGATE" not in name}
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self._environment = {**kept, "PATH": path, "COLUMNS": "100", MARK: str(folder)}
        (folder / ".venv").symlink_to(Path(sys.executable).parent.parent)
        for name in ("benchmarks", "tests"):  # what pages for developers run lies in the checkout
            (folder / name).symlink_to(ROOT / name)

    def run(self, page: Path) -> int:
        """Write the files and run the commands of a page; return how many commands there were."""
        try:
            return self._run(page)
        finally:
            self._end_what_is_left()

    def _run(self, page: Path) -> int:
        count = 0
        for block in blocks(page):
            if block.title is not None:
                file = self._folder / block.title
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(self._replaced(block.text), "utf-8")
            elif block.language in {"console", "bash"}:
                for command in commands(block):
                    self._execute(command, f"{page.relative_to(ROOT)}:{command.line}")
                    count += 1
        return count

    def _execute(self, command: Command, where: str) -> None:
        text = self._replaced(command.text)
        if static_problem(text) is not None:
            raise AssertionError(f"{where}: {static_problem(text)}")
        if is_static(text):
            return
        if text.startswith("export "):
            name, _, value = text.removeprefix("export ").partition("=")
            self._environment[name] = self._expanded(value)
            return
        settled = SETTLED.search(command.shown)
        interrupted = INTERRUPTED.match(text)
        if interrupted:
            code, printed = self._interrupt(interrupted[1], int(settled[1]) if settled else ENOUGH)
        else:
            code, printed = self._finish(text)
        story = f"{where}\n$ {text}\n{printed}(exit {code})"
        assert code == command.exit_code, story
        problem = difference(command.shown, printed)
        assert problem is None, f"{story}\n{problem}"

    def _finish(self, text: str) -> tuple[int, str]:
        with self._start(text) as process:
            printed, _ = process.communicate(timeout=self.LONGEST_S)
            return process.returncode, printed

    def _interrupt(self, text: str, attempts: int) -> tuple[int, str]:
        """Send SIGINT after this number of further attempts. On a slow machine they take longer."""
        before = self._attempts()
        with self._start(f"exec {text}") as process:
            until(
                lambda: process.poll() is not None or self._attempts() - before >= attempts,
                self.LONGEST_S,
                f"{attempts} attempts of {text}",
            )
            process.send_signal(signal.SIGINT)
            printed, _ = process.communicate(timeout=self.LONGEST_S)
            return process.returncode, printed

    def _start(self, text: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["bash", "-c", text],
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def _attempts(self) -> int:
        """How many attempts the store of the page's folder knows."""
        path = self._folder / "headgate.db"
        with contextlib.suppress(sqlite3.OperationalError):  # it is not there yet
            store = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
            with contextlib.closing(store):
                return int(store.execute("SELECT count(*) FROM attempts").fetchone()[0])
        return 0

    def _end_what_is_left(self) -> None:
        """A page starts small servers in the background, which its reader ends by leaving."""
        mark = str(self._folder)
        left = [one for one in psutil.process_iter() if _environment_of(one).get(MARK) == mark]
        end(left)

    def _expanded(self, value: str) -> str:
        echo = subprocess.run(
            ["bash", "-c", f"printf %s {value}"],
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        return echo.stdout

    def _replaced(self, text: str) -> str:
        for shown, real in self._replace.items():
            text = text.replace(shown, real)
        return text


def _environment_of(process: psutil.Process) -> Mapping[str, str]:
    try:
        return process.environ()
    except psutil.Error:  # it is gone, or belongs to another user
        return {}


def is_static(command: str) -> bool:
    """Whether a command is checked without being run: it would install, or begin another run."""
    return command.startswith(("make", "pip install", "npm "))


def static_problem(command: str) -> str | None:
    """What is wrong with a command that is not run, if anything."""
    word, _, rest = command.partition("#")[0].strip().partition(" ")
    if word == "make":
        makefile = (ROOT / "Makefile").read_text("utf-8")
        for target in rest.split():
            if "=" not in target and not re.search(
                rf"^{re.escape(target)}:", makefile, re.MULTILINE
            ):
                return f"there is no target {target!r} in the Makefile"
    if word == "npm":
        name = rest.removeprefix("run ").strip()
        scripts = json.loads((ROOT / "web" / "package.json").read_text("utf-8"))["scripts"]
        if name not in scripts:
            return f"there is no script {name!r} in web/package.json"
    if command.startswith("pip install"):
        extras = re.findall(r"headgate\[([\w,]+)\]", command)
        project = (ROOT / "pyproject.toml").read_text("utf-8")
        for extra in ",".join(extras).split(","):
            if extra and f"\n{extra} = [" not in project:
                return f"there is no extra {extra!r}"
    return None


def difference(shown: str, printed: str) -> str | None:
    """The first line of a page that the output does not have, in order; None if it has all."""
    lines = [line for line in printed.splitlines() if not PROGRESS.match(line)]
    left = [_pattern_text(line) for line in lines]
    skipping = False
    for line in shown.splitlines():
        if line.strip() == ELLIPSIS:
            skipping = True
            continue
        if not line.strip():
            continue
        pattern = re.compile(re.escape(_pattern_text(line)).replace(ELLIPSIS, ".*"))
        found = next((at for at, text in enumerate(left) if pattern.fullmatch(text)), None)
        if found is None or (found and not skipping and any(left[:found])):
            return f"the page shows, and the output has not here: {line}"
        left = left[found + 1 :]
        skipping = False
    return None


def _pattern_text(line: str) -> str:
    for varying in VARYING:
        line = varying.sub("0", line)
    return " ".join(line.split())
