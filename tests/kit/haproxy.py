"""A real HAProxy of one's own that counts requests in a window, and its log as evidence."""

from typing import NamedTuple

from tests.kit.access_log import MARK, Logged, read_log
from tests.kit.ports import LOOPBACK
from tests.kit.service import Service

SIZES = {"/1k": 1_000, "/20k": 20_000}


class WindowLimit(NamedTuple):
    """At most `most` requests in a sliding window (as HAProxy writes it: `1s`, `10s`, `1m`).

    With `count_denied`, refused requests keep the limit reached, as in most configurations.
    """

    most: int
    window: str = "10s"
    status: int = 429
    count_denied: bool = True


class HaproxyServer(Service):
    """One thread, fixed bodies of 1 kB and 20 kB, and a stick table before them."""

    program = "haproxy"

    def __init__(self, limit: WindowLimit | None = None) -> None:
        super().__init__()
        self._limit = limit
        for path, size in SIZES.items():
            (self.folder / path[1:]).write_bytes(b"x" * size)

    def command(self) -> list[str]:
        configuration = self.folder / "haproxy.cfg"
        lines = [line.strip() for line in self._configuration().splitlines()]
        configuration.write_text("\n".join(lines) + "\n")
        return ["-db", "-f", str(configuration)]

    def url(self, path: str = "/1k") -> str:
        """Where a client finds a body."""
        return f"http://{LOOPBACK}:{self.port}{path}"

    def log(self, at_least: int = 0) -> list[Logged]:
        """Every request until now. A line follows its answer, so name the expected number."""
        # HAProxy's own times are whole numbers: of microseconds, and of milliseconds.
        return [
            each._replace(ended_s=each.ended_s / 1e6, took_s=each.took_s / 1e3)
            for each in read_log(self.folder / "server.log", at_least)
        ]

    def _configuration(self) -> str:
        bodies = "\n".join(
            f"http-request return status 200 content-type text/plain "
            f"file {self.folder}{path} if {{ path {path} }}"
            for path in SIZES
        )
        return f"""
            global
            nbthread 1
            noreuseport
            maxconn 4096
            tune.bufsize 65536
            log stdout format raw local0

            defaults
            mode http
            log global
            log-format "{MARK} %[date(0,us)] %Ta %ST %HU"
            timeout client 60s
            timeout connect 5s
            timeout server 60s

            frontend limited
            bind {LOOPBACK}:{self.port}
            {self._limits()}
            {bodies}
            http-request return status 404
        """

    def _limits(self) -> str:
        if self._limit is None:
            return ""
        most, window, status, count_denied = self._limit
        table = f"stick-table type ip size 1k expire 1h store http_req_rate({window})"
        track = "http-request track-sc0 src"
        deny = f"http-request deny deny_status {status} if"
        if count_denied:
            rules = [track, f"{deny} {{ sc_http_req_rate(0) gt {most} }}"]
        else:
            rules = [f"{deny} {{ src_http_req_rate ge {most} }}", track]
        return "\n".join([table, *rules])
