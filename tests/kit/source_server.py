"""Servers that others wrote, to extract from. `make services` installs them in their own folder."""

import http.client
import json
import re
import secrets
from collections.abc import Mapping
from email.message import Message
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from tests.kit.pages import ROOT
from tests.kit.ports import LOOPBACK
from tests.kit.provider import wait_until
from tests.kit.service import Service, ServiceMissing

FOLDER = ROOT / ".venv-sources"
PYTHON = FOLDER / "bin" / "python"
TIMEOUT_S = 30.0
LOGGED = re.compile(r"(?:GET|HEAD) (/\S*)")
"""A request in the log of a server."""
MARK = "end-of-log"


class Reply(NamedTuple):
    """What a server answered, with its body as JSON; None without a body."""

    status: int
    headers: Message
    value: Any


def installed(path: Path, name: str) -> str:
    """The path, if `make services` has put something there."""
    if not path.exists():
        raise ServiceMissing(f"{name} is not installed; `make services` installs it.")
    return str(path)


class SourceServer(Service):
    """A server with rows, and a way to ask it that is not ours."""

    always: str
    """A path that it always answers."""

    @classmethod
    def find(cls) -> str:
        return installed(FOLDER / "bin" / cls.program, cls.program)

    def url(self, path: str = "") -> str:
        """Where a client finds a path."""
        return f"http://{LOOPBACK}:{self.port}{path}"

    def ask(
        self,
        path: str,
        method: str = "GET",
        value: object = None,
        headers: Mapping[str, str] | None = None,
        **query: object,
    ) -> Reply:
        """Send one request. `path` may be a URL of this server, as in a link that it gave."""
        target = path.removeprefix(self.url())
        target += f"?{urlencode(query)}" if query else ""
        body = None if value is None else json.dumps(value).encode()
        sent = {"Content-Type": "application/json"} if body else {}
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=TIMEOUT_S)
        try:
            connection.request(method, target, body, {**sent, **(headers or {})})
            reply = connection.getresponse()
            text = reply.read()
            is_json = "json" in reply.headers.get("Content-Type", "")
            return Reply(
                reply.status, reply.headers, json.loads(text) if text and is_json else None
            )
        finally:
            connection.close()

    def requests(self) -> list[str]:
        """The targets of all readings that it has answered, in the order of its log."""
        mark = f"{self.always}?{MARK}={secrets.token_hex(8)}"
        self.ask(mark)
        wait_until(lambda: mark in self._logged())  # it may log an answer after it has given it
        return [target for target in self._logged() if MARK not in target]

    def _logged(self) -> list[str]:
        return LOGGED.findall((self.folder / "server.log").read_text(errors="replace"))
