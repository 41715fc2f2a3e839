"""Kinto, which remembers what was deleted, with its records in memory."""

import base64
import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from tests.kit.ports import LOOPBACK
from tests.kit.service import ServiceFailed
from tests.kit.source_server import Reply, SourceServer

READING = ("GET", "HEAD")
AT_ONCE = 200
"""Writes in one request."""
SETTINGS = """
[server:main]
use = egg:waitress#main
host = {host}
port = {port}
threads = 8

[app:main]
use = egg:kinto
kinto.storage_backend = kinto.core.storage.memory
kinto.cache_backend = kinto.core.cache.memory
kinto.permission_backend = kinto.core.permission.memory
kinto.userid_hmac_secret = {secret}
kinto.bucket_create_principals = system.Authenticated
kinto.batch_max_requests = {at_once}
{paginate_by}
multiauth.policies = basicauth
multiauth.policy.basicauth.use = kinto.core.authentication.BasicAuthAuthenticationPolicy

[loggers]
keys = root, requests
[handlers]
keys = console
[formatters]
keys = json
[logger_root]
level = ERROR
handlers = console
[logger_requests]
level = INFO
handlers = console
qualname = request.summary
propagate = 0
[handler_console]
class = StreamHandler
args = (sys.stderr,)
formatter = json
[formatter_json]
class = dockerflow.logging.JsonLogFormatter
"""


class KintoServer(SourceServer):
    """One bucket, whose collections are made when rows are first put there.

    A request without `user` and `password` is refused. `page_rows` is the most that it gives at
    once; 0: as many as are asked for. Stopping it loses everything.
    """

    program = "kinto"
    always = "/v1/"
    user, password = "reader", "secret"
    bucket = "shop"

    def __init__(self, *, page_rows: int = 0) -> None:
        super().__init__()
        self._page_rows = page_rows

    def command(self) -> list[str]:
        paginate_by = f"kinto.paginate_by = {self._page_rows}" if self._page_rows else ""
        settings = self.folder / "kinto.ini"
        settings.write_text(
            SETTINGS.format(
                host=LOOPBACK,
                port=self.port,
                secret=secrets.token_hex(16),
                at_once=AT_ONCE,
                paginate_by=paginate_by,
            )
        )
        return ["start", "--ini", str(settings)]

    @property
    def authorization(self) -> dict[str, str]:
        """The header that it asks for."""
        word = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        return {"Authorization": f"Basic {word}"}

    def path(self, collection: str, record: str = "") -> str:
        """Where the records of a collection are, or one of them."""
        end = f"/{record}" if record else ""
        return f"/v1/buckets/{self.bucket}/collections/{collection}/records{end}"

    def put(self, collection: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add or replace rows by their `id`."""
        above = [f"/v1/buckets/{self.bucket}"]
        above.append(f"{above[0]}/collections/{collection}")
        writes: list[dict[str, Any]] = [
            {"method": "PUT", "path": path, "headers": {"If-None-Match": "*"}} for path in above
        ]
        self._write(writes, allowed=(412,))
        records = [
            {"method": "PUT", "path": self.path(collection, row["id"]), "body": {"data": row}}
            for row in rows
        ]
        for first in range(0, len(records), AT_ONCE):
            self._write(records[first : first + AT_ONCE])

    def delete(self, collection: str, *ids: str) -> None:
        """Delete rows; each leaves a tombstone."""
        self._write([{"method": "DELETE", "path": self.path(collection, each)} for each in ids])

    def read(self, path: str, method: str = "GET", **query: object) -> Reply:
        """Ask as the user."""
        return self.ask(path, method, headers=self.authorization, **query)

    def rows(self, collection: str) -> list[dict[str, Any]]:
        """What it truly holds, in the order of ids, page after page."""
        found: list[dict[str, Any]] = []
        path: str | None = self.path(collection)
        while path:
            reply = self.read(path)
            found += reply.value["data"]
            path = reply.headers.get("Next-Page")
        return sorted(found, key=lambda row: str(row["id"]))

    def _logged(self) -> list[str]:
        # The last line may be half written.
        lines = (self.folder / "server.log").read_text(errors="replace").split("\n")[:-1]
        logged = [json.loads(line)["Fields"] for line in lines if '"Fields"' in line]
        return [
            f"{each['path']}?{urlencode(each.get('querystring', {}))}".removesuffix("?")
            for each in logged
            if each.get("method") in READING
        ]

    def _write(self, writes: Sequence[Mapping[str, Any]], allowed: Sequence[int] = ()) -> None:
        value = {"requests": writes}
        reply = self.ask("/v1/batch", "POST", value, headers=self.authorization)
        answers = reply.value["responses"] if reply.status == 200 else [reply.value]
        wrong = [each for each in answers if each.get("status", 500) not in (200, 201, *allowed)]
        if wrong:
            raise ServiceFailed(f"Kinto refused to write: {wrong[:3]}")
