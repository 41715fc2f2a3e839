"""A real nginx of one's own, with the limits that a test names, and its log as evidence."""

import os
from typing import NamedTuple

from tests.kit.access_log import MARK, Logged, read_log
from tests.kit.ports import LOOPBACK
from tests.kit.service import Service

SMALL, MEDIUM, HUGE = "/1k", "/20k", "/500m"
SIZES = {SMALL: 1_000, MEDIUM: 20_000, HUGE: 500_000_000}
SLOW = "/slow"


class RequestLimit(NamedTuple):
    """`limit_req`: a leaky bucket over all clients. `rate` as nginx writes it: `50r/s`, `30r/m`."""

    rate: str
    burst: int = 0
    nodelay: bool = True
    status: int = 429


class ConnectionLimit(NamedTuple):
    """`limit_conn`: the most requests at the same time, over all clients."""

    most: int
    status: int = 429


class NginxServer(Service):
    """One worker, fixed bodies of 1 kB, 20 kB and 500 MB, and limits on all of them.

    A query string makes another URL of the same body. `/slow` passes on to `upstream`, for a limit
    on requests that take their time.
    """

    program = "nginx"

    def __init__(
        self,
        requests: RequestLimit | None = None,
        connections: ConnectionLimit | None = None,
        *,
        upstream: str | None = None,
        cache_control: str = "no-store",
    ) -> None:
        super().__init__()
        self._requests = requests
        self._connections = connections
        self._upstream = upstream
        self._cache_control = cache_control
        for path, size in SIZES.items():
            with (self.folder / path[1:]).open("wb") as body:
                if path != HUGE:
                    body.write(b"x" * size)
                body.truncate(size)

    def command(self) -> list[str]:
        configuration = self.folder / "nginx.conf"
        configuration.write_text(self._configuration())
        return ["-e", "stderr", "-p", str(self.folder), "-c", str(configuration)]

    def url(self, path: str = SMALL) -> str:
        """Where a client finds a body."""
        return f"http://{LOOPBACK}:{self.port}{path}"

    def log(self, at_least: int = 0) -> list[Logged]:
        """Every request until now. A line follows its answer, so name the expected number."""
        return read_log(self.folder / "access.log", at_least)

    def _configuration(self) -> str:
        # Workers of root would otherwise be another account, which may not read our folder.
        user = "user root;" if os.geteuid() == 0 else ""
        temporary = "".join(
            f"{kind}_temp_path {self.folder}/{kind};"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        slow = f"location {SLOW} {{ proxy_pass {self._upstream}; }}" if self._upstream else ""
        return f"""
            daemon off; worker_processes 1; pid nginx.pid; error_log stderr crit; {user}
            events {{ worker_connections 4096; }}
            http {{
                {temporary}
                log_format seen '{MARK} $msec $request_time $status $request_uri';
                access_log {self.folder}/access.log seen;
                keepalive_requests 1000000;
                sendfile on; tcp_nodelay on;
                proxy_http_version 1.1; proxy_set_header Connection "";
                default_type text/plain;
                add_header Cache-Control "{self._cache_control}";
                {self._zones()}
                server {{
                    listen {LOOPBACK}:{self.port} backlog=4096;
                    root {self.folder};
                    {self._limits()}
                    {slow}
                }}
            }}
        """

    def _zones(self) -> str:
        zones = ""
        if self._requests:
            rate = self._requests.rate
            zones += f"limit_req_zone $server_port zone=requests:1m rate={rate};"
        if self._connections:
            zones += "limit_conn_zone $server_port zone=connections:1m;"
        return zones

    def _limits(self) -> str:
        limits = ""
        if self._requests:
            burst = f" burst={self._requests.burst}" if self._requests.burst else ""
            nodelay = " nodelay" if burst and self._requests.nodelay else ""
            limits += f"limit_req zone=requests{burst}{nodelay};"
            limits += f"limit_req_status {self._requests.status};"
        if self._connections:
            limits += f"limit_conn connections {self._connections.most};"
            limits += f"limit_conn_status {self._connections.status};"
        return limits
