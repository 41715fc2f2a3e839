"""A real `headgate serve` on a port of its own, and callers who ask it as clients would."""

import contextlib
import http.client
import json
import os
import secrets
import shutil
import signal
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import urlencode, urlsplit

import psutil

from tests.kit import shop_handlers
from tests.kit.command import Command, Ended, living, until
from tests.kit.project import Project

PROBLEM = "application/problem+json"
ENDED = frozenset({"DONE", "FAILED", "CANCELLED"})
SETTINGS = {"retry__backoff_base_s": "0"}
File = tuple[str, bytes]


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:
        """The body as the value that it is."""
        return json.loads(self.body)

    def refused(self, status: int, *words: str) -> str:
        """What the problem details say, which must be whole and have that status."""
        assert self.status == status, (self.status, self.body[:500])
        assert self.headers["Content-Type"] == PROBLEM
        problem = self.json
        assert problem.keys() >= {"type", "title", "status", "detail"}, problem
        assert problem["status"] == status
        assert problem["title"]
        assert problem["detail"]
        detail: str = problem["detail"]
        for word in words:
            assert word in detail, detail
        return detail

    def ok(self, status: int = 200) -> Any:
        """The value of an answer that must have that status."""
        assert self.status == status, (self.status, self.body[:500])
        return self.json if self.body else None


def multipart(files: Iterable[File], fields: Mapping[str, str]) -> tuple[bytes, str]:
    """A body and its content type."""
    boundary = secrets.token_hex(16)
    parts: list[bytes] = []
    for name, value in fields.items():
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'
        parts.append(head.encode() + value.encode() + b"\r\n")
    for name, content in files:
        disposition = f'form-data; name="file"; filename="{name}"'
        head = f"--{boundary}\r\nContent-Disposition: {disposition}\r\n\r\n"
        parts.append(head.encode() + content + b"\r\n")
    parts.append(f"--{boundary}--\r\n".encode())
    return b"".join(parts), f"multipart/form-data; boundary={boundary}"


class Caller:
    """A client with a token, or (None) without."""

    def __init__(self, url: str, token: str | None) -> None:
        self.url = url
        self.token = token
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "", parts.port

    def ask(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send a request, and read its answer to the end."""
        connection = http.client.HTTPConnection(self._host, self._port, timeout=120)
        try:
            connection.request(method, path, body, {**self.headers, **(headers or {})})
            reply = connection.getresponse()
            return Answer(reply.status, reply.headers, reply.read())
        finally:
            connection.close()

    @property
    def headers(self) -> dict[str, str]:
        """What proves who is asking."""
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def get(self, path: str, **query: object) -> Answer:
        """Ask for something."""
        return self.ask("GET", _with_query(path, query))

    def delete(self, path: str) -> Answer:
        """Ask to remove something."""
        return self.ask("DELETE", path)

    def post(
        self,
        path: str,
        value: object = None,
        headers: Mapping[str, str] | None = None,
        **query: object,
    ) -> Answer:
        """Send a value as JSON, or nothing at all."""
        return self._send("POST", _with_query(path, query), value, headers)

    def patch(self, path: str, value: object) -> Answer:
        """Send a change as JSON."""
        return self._send("PATCH", path, value, None)

    def upload(
        self,
        *files: File,
        to: str = "/api/jobs",
        once: str = "",
        **fields: str,
    ) -> Answer:
        """Send files with fields; `once` is an idempotency key."""
        body, kind = multipart(files, fields)
        headers = {"Content-Type": kind} | ({"Idempotency-Key": once} if once else {})
        return self.ask("POST", to, body=body, headers=headers)

    # ---- jobs -----------------------------------------------------------------------------

    def send(self, rows: bytes, **fields: str) -> str:
        """Make a job of rows for `shop.price`, and return its id."""
        given = {"handler": "shop.price", "key": "id", **fields}
        made: str = self.upload(("rows.csv", rows), **given).ok(202)["jobId"]
        return made

    def job(self, job_id: str) -> Any:
        """A job with its counters."""
        return self.get(f"/api/jobs/{job_id}").ok()

    def ended(self, job_id: str, timeout_s: float = 45.0) -> Any:
        """A job, once it has ended."""
        return self.reached(job_id, *ENDED, timeout_s=timeout_s)

    def reached(self, job_id: str, *states: str, timeout_s: float = 45.0) -> Any:
        """A job, once it is in one of those states."""
        found: dict[str, Any] = {}

        def there() -> bool:
            found.update(self.job(job_id))
            return found["state"] in states

        until(there, timeout_s, f"job {job_id} to be {' or '.join(states)}")
        return found

    def done(self, rows: bytes, **fields: str) -> str:
        """Make a job of rows, wait until it is DONE, and return its id."""
        job_id = self.send(rows, **fields)
        assert self.ended(job_id)["state"] == "DONE"
        return job_id

    def items(self, job_id: str, **query: object) -> list[Any]:
        """All items of a job, page by page."""
        return self.pages(f"/api/jobs/{job_id}/items", **query)

    def pages(self, path: str, **query: object) -> list[Any]:
        """What a list holds, page by page."""
        found: list[Any] = []
        while True:
            page = self.get(path, **query).ok()
            found += page["items"]
            if page["next"] is None:
                return found
            query["after"] = page["next"]

    def _send(
        self, method: str, path: str, value: object, headers: Mapping[str, str] | None
    ) -> Answer:
        if value is None:
            return self.ask(method, path, headers=headers)
        sent = {"Content-Type": "application/json", **(headers or {})}
        return self.ask(method, path, body=json.dumps(value).encode(), headers=sent)


def _with_query(path: str, query: Mapping[str, object]) -> str:
    return f"{path}?{urlencode(query)}" if query else path


class ApiServer:
    """One server over one folder; it can be stopped, killed and started again."""

    def __init__(self, folder: Path, database_url: str = "", **settings: object) -> None:
        self.folder = folder
        chosen = {name: str(value) for name, value in settings.items()}
        url = database_url or f"sqlite:///{folder}/headgate.db"
        self.project = Project(folder, url, {**SETTINGS, **chosen})
        self.data = folder / "data"
        self.project.settings.setdefault("server__data_folder", str(self.data))
        # A copy: the folder of a handler file comes first wherever modules are looked for.
        self.handlers = shutil.copy(str(shop_handlers.__file__), folder / "shop.py")
        self.url = ""
        self.token = ""
        self._command: Command | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._command is not None:
            self._command.kill()

    def start(self, *words: str) -> None:
        """Return once it answers; its first line says where."""
        given = ["serve", "--handlers", str(self.handlers), "--port", "0", "--json", *words]
        command = self._command = self.project.start(*given)
        until(lambda: command.said or not command.running, what="the server to say where it is")
        assert command.said, command.talk
        first = json.loads(command.said.splitlines()[0])
        assert first.keys() == {"url", "token"}
        self.url, self.token = first["url"], first["token"]

    @property
    def command(self) -> Command:
        """The running server."""
        assert self._command is not None
        return self._command

    @property
    def talk(self) -> str:
        """What it has logged until now."""
        return self.command.talk

    def stop(self) -> Ended:
        """Ask it to end, and wait until it and all its processes have."""
        children = self.command.workers
        os.kill(self.command.pid, signal.SIGTERM)
        ended = self.command.wait()
        until(lambda: not living(children), what="all processes to end with the server")
        return ended

    def kill(self) -> None:
        """Kill -9 of the server alone; returns when its processes have followed."""
        children = self.command.workers
        self.command.kill_supervisor()
        until(lambda: not living(children), what="all processes to die with the server")

    def child(self, module: str) -> psutil.Process | None:
        """The living process that runs a module of ours."""
        for process in psutil.Process(self.command.pid).children():
            with contextlib.suppress(psutil.NoSuchProcess):  # it may end between the two questions
                if living([process]) and module in process.cmdline():
                    return process
        return None

    # ---- people ---------------------------------------------------------------------------

    def admin(self) -> Caller:
        """The operator, who started the server."""
        return Caller(self.url, self.token)

    def nobody(self) -> Caller:
        """A client without a token."""
        return Caller(self.url, None)

    def user(self, name: str, role: str = "user", **more: object) -> Caller:
        """A user with a token of their own; made if there is none of that name."""
        admin = self.admin()
        made = admin.post("/api/users", {"name": name, "role": role, **more})
        assert made.status in {201, 409}, made.body
        asked = {"user": name, "role": role}
        return Caller(self.url, admin.post("/api/tokens", asked).ok(201)["token"])

    # ---- files ----------------------------------------------------------------------------

    def uploads(self) -> list[Path]:
        """The folders of uploads that are kept."""
        folder = self.data / "uploads"
        return sorted(folder.iterdir()) if folder.is_dir() else []


def rows_csv(count: int, **deeds: str) -> bytes:
    """Rows from 1 on; `r3="fail"` has the third do that."""
    lines = (f"{n},name {n},{deeds.get(f'r{n}', '')}" for n in range(1, count + 1))
    return "\n".join(["id,name,do", *lines, ""]).encode()
