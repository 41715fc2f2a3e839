"""A real nginx over a folder of files, on as many loopback addresses as hosts are wanted."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.measurement import UnavailableError
from tests.kit.access_log import MARK, Logged, read_log
from tests.kit.ports import LOOPBACK
from tests.kit.service import Service, ServiceMissing

TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


class Site(Service):
    """One worker; robots.txt allows all. A host that is closed answers 429 with `Retry-After`."""

    program = "nginx"

    def __init__(
        self,
        files: Path,
        hosts: Sequence[str] = (LOOPBACK,),
        *,
        cache_control: str = "",
        retry_after_s: int = 0,
    ) -> None:
        super().__init__()
        self._files = files
        self._hosts = hosts
        self._cache_control = cache_control
        self._retry_after_s = retry_after_s
        self._closed = self.folder / "closed"
        self._closed.mkdir()

    def command(self) -> list[str]:
        configuration = self.folder / "nginx.conf"
        configuration.write_text(self._configuration())
        return ["-e", "stderr", "-p", str(self.folder), "-c", str(configuration)]

    def url(self, name: str, host: str | None = None) -> str:
        return f"http://{host or self._hosts[0]}:{self.port}/{name}"

    def close_host(self, host: str) -> None:
        (self._closed / host).touch()

    def open_host(self, host: str) -> None:
        (self._closed / host).unlink()

    def log(self, at_least: int = 0) -> list[Logged]:
        """Every request until now; a path begins with the host."""
        return read_log(self.folder / "access.log", at_least)

    def _configuration(self) -> str:
        # Workers of root would otherwise be another account, which may not read our folder.
        user = "user root;" if os.geteuid() == 0 else ""
        cache = f'add_header Cache-Control "{self._cache_control}";' if self._cache_control else ""
        return f"""
            daemon off; worker_processes 1; pid nginx.pid; error_log stderr crit; {user}
            events {{ worker_connections 4096; }}
            http {{
                {" ".join(f"{kind}_temp_path {self.folder}/{kind};" for kind in TEMPORARY)}
                log_format seen '{MARK} $msec $request_time $status $server_addr$request_uri';
                access_log {self.folder}/access.log seen;
                keepalive_requests 1000000;
                sendfile on; tcp_nodelay on;
                types {{ application/pdf pdf; }}
                server {{
                    {" ".join(f"listen {host}:{self.port} backlog=4096;" for host in self._hosts)}
                    root {self._files};
                    {cache}
                    location = /robots.txt {{ return 200 "User-agent: *\\nAllow: /\\n"; }}
                    location / {{
                        if (-f {self._closed}/$server_addr) {{
                            add_header Retry-After {self._retry_after_s} always;
                            return 429;
                        }}
                    }}
                }}
            }}
        """


@contextmanager
def serving(
    files: Path,
    hosts: Sequence[str] = (LOOPBACK,),
    *,
    cache_control: str = "",
    retry_after_s: int = 0,
) -> Iterator[Site]:
    try:
        site = Site(files, hosts, cache_control=cache_control, retry_after_s=retry_after_s)
    except ServiceMissing as error:
        raise UnavailableError(str(error)) from error
    with site:
        yield site
