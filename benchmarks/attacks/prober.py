"""A quiet user, who lists jobs, uploads one row or logs in, and notes how long each takes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from benchmarks.attacks.target import Target

NEVER_S = 60.0
"""What a request counts that was refused, or never answered."""
PAUSE_S = 0.02
LEAST = 20
"""Requests of each kind in a measurement, however long they take."""
MOST_S = 90.0
"""Unless it takes longer than this."""

BOUNDARY = "quiet-user"
ROW = (
    f"--{BOUNDARY}\r\n"
    'Content-Disposition: form-data; name="handler"\r\n\r\nbench.noop\r\n'
    f"--{BOUNDARY}\r\n"
    'Content-Disposition: form-data; name="file"; filename="row.csv"\r\n\r\nid\n1\n\r\n'
    f"--{BOUNDARY}--\r\n"
).encode()


@dataclass
class Probed:
    """How long requests took, in seconds."""

    listing: list[float] = field(default_factory=list)
    upload: list[float] = field(default_factory=list)
    login: list[float] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def p95(self) -> dict[str, float]:
        """The 95th percentile of each kind."""
        kinds = {
            "GET /api/jobs": self.listing,
            "1-row upload": self.upload,
            "login from a known address": self.login,
        }
        return {what: _p95(taken) for what, taken in kinds.items() if taken}


def _p95(taken: list[float]) -> float:
    return statistics.quantiles(taken, n=100, method="inclusive")[94]


def probe(target: Target, token: str, seconds: float, login: str = "") -> Probed:
    """Ask in turns for `seconds`, and log in under that name if there is one."""
    found = Probed()
    kind = f"multipart/form-data; boundary={BOUNDARY}"

    def ls() -> int:
        return target.ask(token, "GET", "/api/jobs?pageSize=20")[0]

    def upload() -> int:
        return target.ask(token, "POST", "/api/jobs", ROW, kind)[0]

    def log_in() -> int:
        return target.log_in(login)

    started = time.perf_counter()
    while True:
        found.listing.append(_timed(ls, found.failed))
        found.upload.append(_timed(upload, found.failed))
        if login:
            found.login.append(_timed(log_in, found.failed))
        spent = time.perf_counter() - started
        if spent > MOST_S or (spent > seconds and len(found.upload) >= LEAST):
            return found
        time.sleep(PAUSE_S)


def _timed(ask: Callable[[], int], failed: list[str]) -> float:
    started = time.perf_counter()
    try:
        status = ask()
    except OSError as error:
        failed.append(f"{ask.__name__}: {error!r}")
        return NEVER_S
    if status >= 300:
        failed.append(f"{ask.__name__}: {status}")
        return NEVER_S
    return time.perf_counter() - started
