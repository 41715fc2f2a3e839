"""What a provider may answer, truly or not, and scripts that say when."""

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

Headers = Sequence[tuple[str, str]]


class Request(NamedTuple):
    """What was asked. Header names are in lower case."""

    method: str
    target: str
    """The path with its query, as it was sent."""
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def host(self) -> str:
        """Whom the client took this server for."""
        return self.headers.get("host", "").lower()

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]


class Answer(NamedTuple):
    """One answer, with its misbehaviour. A `content-length` is added where none is given."""

    status: int = 200
    headers: Headers = ()
    body: bytes = b""
    delay_s: float = 0.0
    """Before the head."""
    drip_s: float = 0.0
    """Before each byte of the body."""
    cut_at: int | None = None
    """Hang up after so many bytes of the body."""
    hold: bool = False
    """After the body, neither go on nor hang up."""
    silent: bool = False
    """Accept, and never answer."""
    hang_up: bool = False
    """Close instead of answering."""


Script = Callable[[Request], Answer]


def always(answer: Answer) -> Script:
    """The same, whatever is asked."""
    return lambda _: answer


def in_turn(*answers: Answer) -> Script:
    """One after the other; the last stays."""
    left = list(answers)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


def by_path(scripts: Mapping[str, Script], otherwise: Script | None = None) -> Script:
    """Another script for each path; 404 for the rest unless told otherwise."""
    rest = otherwise or always(Answer(404))
    return lambda request: scripts.get(request.path, rest)(request)


def refusal(retry_after: str | None = None, *, status: int = 429, headers: Headers = ()) -> Answer:
    """A request to slow down; `retry_after` may be any text."""
    told = [("Retry-After", retry_after)] if retry_after is not None else []
    return Answer(status, [*told, *headers], b"slow down")


def redirect(location: str, status: int = 302) -> Answer:
    """Look elsewhere."""
    return Answer(status, [("Location", location)])


def tagged(body: bytes, cache_control: str = "no-cache") -> Script:
    """A body with an ETag: 304 for a client that has it already."""
    etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
    headers = [("ETag", etag), ("Cache-Control", cache_control)]

    def answer(request: Request) -> Answer:
        known = [each.strip() for each in request.headers.get("if-none-match", "").split(",")]
        return Answer(304, headers) if etag in known else Answer(200, headers, body)

    return answer


class Bucket:
    """A token bucket before an answer. Its rate may change while it is in use."""

    def __init__(
        self,
        per_s: float,
        burst: float = 1.0,
        *,
        answer: Answer | None = None,
        refused: Answer | None = None,
        time_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._time_s = time_s
        self.per_s = per_s
        self.burst = burst
        self.answer = answer or Answer()
        self.refused = refused or refusal()
        self._tokens = burst
        self._filled_s = time_s()

    def __call__(self, request: Request) -> Answer:
        now = self._time_s()
        filled = self._tokens + (now - self._filled_s) * self.per_s
        self._tokens, self._filled_s = min(filled, self.burst), now
        if self._tokens < 1.0:
            return self.refused
        self._tokens -= 1.0
        return self.answer
