"""`headgate download` as a user runs it: a list, a folder, a store, and a settings file."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import command
from benchmarks.measurement import FailedError

AT_ONCE = 64
RATE = "10000/s"
"""Beyond anything that could be reached: the host has no limit, and we are told so."""
HEARD_WITHIN_S = 10.0
"""Seconds. A second interrupt that comes while the records are written would leave none."""
END_WITHIN_S = 60.0


@dataclass(frozen=True)
class Download:
    """One list into one folder; all that it leaves behind lies in `home`."""

    home: Path
    lanes: int = AT_ONCE
    """Items under way. Those that wait for the disk ask nobody for anything meanwhile."""
    processes: int = 1
    eager: bool = False
    """Whether the first files are fetched while the end of the list is read."""

    @property
    def out(self) -> Path:
        return self.home / "out"

    def words(self) -> list[str]:
        return [
            command.program(),
            "download",
            "urls.txt",
            "--out",
            str(self.out),
            "--db",
            str(self.home / "headgate.db"),
            "--concurrency",
            str(self.lanes),
            "--processes",
            str(self.processes),
            "--json",
            "--quiet",
            *["--eager"] * self.eager,
        ]

    def prepare(self, urls: Iterable[str], *, wide_open: bool = False) -> None:
        """Write the list and the settings; `wide_open` says what a host is known to allow."""
        (self.home / "urls.txt").write_text("".join(f"{url}\n" for url in urls))
        settings = "[net]\nallow_private = true\n"
        if wide_open:
            settings += f"[providers.files]\nrate = '{RATE}'\nconcurrency_per_host = {AT_ONCE}\n"
            settings += f"concurrency_per_domain = {AT_ONCE}\n"
        (self.home / "headgate.toml").write_text(settings)

    def run(self) -> command.Report:
        return command.execute(self.words(), self.home)

    @contextmanager
    def running(self) -> Iterator[subprocess.Popen[bytes]]:
        """The command, until it is interrupted, and once more: what it is at may never end."""
        quiet = subprocess.DEVNULL
        with subprocess.Popen(self.words(), cwd=self.home, stdout=quiet, stderr=quiet) as process:
            try:
                yield process
            finally:
                for patience_s in (HEARD_WITHIN_S, END_WITHIN_S):
                    process.send_signal(signal.SIGINT)
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(patience_s)
                process.kill()

    def manifest(self) -> Iterator[dict[str, Any]]:
        with (self.out / "manifest.jsonl").open() as lines:
            for line in lines:
                yield json.loads(line)

    def files(self, outcome: str = "done") -> dict[str, Path]:
        """Where the file of each URL lies; every one must have ended so."""
        found = {}
        for line in self.manifest():
            if line["outcome"] != outcome:
                raise FailedError(f"{line['input']} is {line['outcome']}: {line['reason']}")
            found[line["url"]] = self.out / line["path"]
        return found
