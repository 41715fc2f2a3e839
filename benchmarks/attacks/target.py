"""A real `headgate serve` to be attacked, with two users: a quiet one and the attacker."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import psutil

HANDLERS = Path(__file__).parent.parent / "handlers.py"
READY_S = 60.0
STOP_S = 60.0
SAMPLE_S = 0.1
PASSWORD = "four quiet grey horses"  # noqa: S105 (of servers that live for a minute)
SETTINGS = {"SERVER__UNFINISHED_JOBS_PER_USER": "100000"}


@dataclass(frozen=True)
class Target:
    """A server that runs."""

    pid: int
    host: str
    port: int
    admin: str

    def ask(
        self,
        token: str,
        method: str,
        path: str,
        body: bytes | None = None,
        kind: str = "application/json",
    ) -> tuple[int, bytes]:
        """One request over a connection of its own."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=READY_S)
        headers = {"Authorization": f"Bearer {token}"} | ({"Content-Type": kind} if body else {})
        try:
            connection.request(method, path, body, headers)
            reply = connection.getresponse()
            return reply.status, reply.read()
        finally:
            connection.close()

    def user(self, name: str) -> str:
        """The token of a new user."""
        self._made("/api/users", {"name": name, "role": "user", "password": PASSWORD})
        token: str = self._made("/api/tokens", {"user": name, "role": "user"})["token"]
        return token

    def log_in(self, name: str) -> int:
        """The status of a right login."""
        body = json.dumps({"name": name, "password": PASSWORD}).encode()
        connection = http.client.HTTPConnection(self.host, self.port, timeout=READY_S)
        try:
            connection.request("POST", "/api/login", body, {"Content-Type": "application/json"})
            return connection.getresponse().status
        finally:
            connection.close()

    def _made(self, path: str, value: Mapping[str, str]) -> Any:
        status, body = self.ask(self.admin, "POST", path, json.dumps(value).encode())
        assert status == 201, body
        return json.loads(body)

    def resident_mb(self) -> float:
        """The memory of all its processes."""
        total = 0
        with contextlib.suppress(psutil.NoSuchProcess):
            server = psutil.Process(self.pid)
            for process in (server, *server.children(recursive=True)):
                with contextlib.suppress(psutil.NoSuchProcess):
                    total += process.memory_info().rss
        return total / 1e6


@contextmanager
def serving(
    folder: Path, settings: Mapping[str, str], descriptors: int = 0, database: str = ""
) -> Iterator[Target]:
    """A server over an empty database, or else over a new SQLite file in that folder."""
    ours = {f"HEADGATE_{name}": value for name, value in {**SETTINGS, **settings}.items()}
    database = database or f"sqlite:///{folder}/headgate.db"
    command = [sys.executable, "-m", "headgate", "serve", "--port", "0", "--json"]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "--db", database, "--handlers", str(HANDLERS)],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=log,
            env={**os.environ, "HEADGATE_PLACES__ROOTS": str(folder), **ours},
        )
    if descriptors:
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (descriptors, descriptors))
    assert process.stdout is not None
    try:
        opened = json.loads(process.stdout.readline())
        where = urlsplit(opened["url"])
        target = Target(process.pid, where.hostname or "", where.port or 0, opened["token"])
        _until_ready(target)
        yield target
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _until_ready(target: Target) -> None:
    deadline = time.monotonic() + READY_S
    while target.ask(target.admin, "GET", "/readyz")[0] != 200:
        assert time.monotonic() < deadline, "the server does not become ready"
        time.sleep(SAMPLE_S)


class MemoryWatch:
    """The most memory that was seen while it was watched."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._ended = threading.Event()
        self.highest_mb = 0.0

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while True:
            self.highest_mb = max(self.highest_mb, self._target.resident_mb())
            if self._ended.wait(SAMPLE_S):
                return
