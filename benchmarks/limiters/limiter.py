"""A limit that a real server keeps, and what it would have allowed at most."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Protocol

from benchmarks.measurement import UnavailableError
from tests.kit.access_log import Logged
from tests.kit.answers import Answer, always
from tests.kit.haproxy import HaproxyServer, WindowLimit
from tests.kit.nginx import SLOW, SMALL, ConnectionLimit, NginxServer, RequestLimit
from tests.kit.provider import Provider
from tests.kit.service import ServiceMissing


class Server(Protocol):
    """One that runs, and what it saw."""

    def url(self, path: str) -> str: ...

    def log(self, at_least: int = 0) -> list[Logged]: ...


@dataclass(frozen=True)
class Truth:
    """What a contender is told that need not find out: a rate, or how many at a time."""

    per_s: float = 0.0
    at_once: int = 0

    def part(self, processes: int) -> dict[str, float]:
        """One process's equal part of it, by the name of the option that takes it."""
        if self.at_once:
            return {"slots": self.at_once // processes}
        return {"rate": self.per_s / processes}


@dataclass(frozen=True)
class Limiter:
    """A row of the table."""

    name: str
    truth: Truth
    burst: int = 0
    """What may come at once beyond the rate, one single time in a run."""
    nginx: RequestLimit | ConnectionLimit | None = None
    haproxy: WindowLimit | None = None
    window_s: float = 0.0
    answers_after_s: float = 0.0

    @property
    def path(self) -> str:
        return SLOW if self.answers_after_s else SMALL

    def allowed(self, seconds: float, taken: Sequence[Logged]) -> float:
        """The most requests that could have been taken in that time.

        Of a limit on requests at a time, that follows from how long they really took.
        """
        if self.truth.at_once:
            mean_s = statistics.fmean(each.took_s for each in taken) if taken else 0.0
            return self.truth.at_once * seconds / max(mean_s, self.answers_after_s)
        return self.truth.per_s * max(seconds, self.window_s) + self.burst

    def most(self, seconds: float) -> int:
        """More requests than can be taken in that time, whatever happens."""
        return int(1.2 * self.allowed(seconds, ())) + 100

    @contextmanager
    def server(self) -> Iterator[Server]:
        """A server of its own that keeps the limit."""
        with ExitStack() as stack:
            try:
                server = HaproxyServer(self.haproxy) if self.haproxy else self._nginx(stack)
            except ServiceMissing as error:
                raise UnavailableError(str(error)) from error
            stack.enter_context(server)
            yield server

    def _nginx(self, stack: ExitStack) -> NginxServer:
        upstream = None
        if self.answers_after_s:
            answer = Answer(200, body=b"x" * 1_000, delay_s=self.answers_after_s)
            upstream = stack.enter_context(Provider(always(answer))).url("")
        if isinstance(self.nginx, ConnectionLimit):
            return NginxServer(connections=self.nginx, upstream=upstream)
        return NginxServer(self.nginx, upstream=upstream)


def requests(per_s: int, burst: int = 0, status: int = 429) -> Limiter:
    """`limit_req`; what it lets through at once is answered at once."""
    name = f"nginx {per_s}/s{f' burst {burst}' if burst else ''} {status}"
    limit = RequestLimit(f"{per_s}r/s", burst, status=status)
    return Limiter(name, Truth(per_s=per_s), burst, nginx=limit)


def connections(most: int, answers_after_s: float, status: int = 429) -> Limiter:
    """`limit_conn`, before something that takes its time."""
    name = f"nginx {most} at once {status}"
    limit = ConnectionLimit(most, status)
    return Limiter(name, Truth(at_once=most), nginx=limit, answers_after_s=answers_after_s)


def window(most: int, seconds: int) -> Limiter:
    """HAProxy `http_req_rate`: requests in a sliding window, refused ones included."""
    name = f"HAProxy {most} in {seconds} s"
    limit = WindowLimit(most, f"{seconds}s")
    return Limiter(name, Truth(per_s=most / seconds), haproxy=limit, window_s=seconds)


LIMITERS = (
    requests(50),
    requests(20, burst=20, status=503),
    requests(100, burst=10),
    requests(5),
    connections(8, 0.2),
    connections(8, 0.2, status=503),
    window(200, 10),
    window(50, 1),
)
