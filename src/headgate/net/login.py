"""The request of a login, and what its reply says. No message here contains a value of either."""

import base64
import math
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote_plus, urlencode

import msgspec

from headgate.core.fault import AttemptOver, Fault, FaultClass, is_retryable_status
from headgate.core.login import CLIENT, REFRESH, ClientPlace, LoginPolicy, SecretOrigin
from headgate.core.url import short_url
from headgate.net.credentials import fits_a_header
from headgate.ports.wire import Headers

if TYPE_CHECKING:
    from headgate.net.gated import RequestContext

OAUTH_ERRORS: Final = (
    *("invalid_client", "invalid_grant", "invalid_request", "invalid_scope"),
    *("unauthorized_client", "unsupported_grant_type"),
)
"""The codes of RFC 6749. Other text of a reply is not shown, since it may repeat a secret."""
MOST_NAMED: Final = 10


class LoginProblem(Exception):
    """Why a login brought no token; its text is for people."""

    def __init__(self, words: str, kind: FaultClass = FaultClass.PERMANENT) -> None:
        super().__init__(words)
        self.kind = kind


class LoginFailed(AttemptOver):
    """A login was answered, but not with a token."""

    code = "login-failed"

    def __init__(self, provider: str, name: str, problem: LoginProblem) -> None:
        reason = f"login for credential {name!r} of provider {provider!r}: {problem}"
        super().__init__(Fault(problem.kind, reason))
        self.is_final = problem.kind is FaultClass.PERMANENT
        """Another try would fail in the same way."""


class LoginMessage(NamedTuple):
    provider: str
    url: str
    headers: Headers
    body: bytes

    def __repr__(self) -> str:
        return f"LoginMessage({short_url(self.url)}, ***)"


class LoginReply(NamedTuple):
    status: int
    body: bytes
    sent_s: float
    """When the request was sent, on the monotonic clock: the life of a token begins after that."""

    def __repr__(self) -> str:
        return f"LoginReply({self.status}, ***)"


SendLogin = Callable[[LoginMessage, "RequestContext"], Coroutine[Any, Any, LoginReply]]


class IssuedToken(NamedTuple):
    value: str
    life_s: float | None
    refresh_token: str

    def __repr__(self) -> str:
        return "IssuedToken(***)"


def login_request(provider: str, policy: LoginPolicy, fields: Mapping[str, str]) -> LoginMessage:
    """The request of a login; `fields` are those of the policy, with their secrets."""
    sent = dict(fields)
    headers = [("accept", "application/json")]
    if policy.client_place is ClientPlace.BASIC:
        # RFC 6749, section 2.3.1: each half is encoded as in a form.
        pair = ":".join(quote_plus(sent.pop(name)) for name in CLIENT)
        basic = base64.b64encode(pair.encode()).decode()
        headers.append(("authorization", f"Basic {basic}"))
    if policy.grant is not None:
        sent["grant_type"] = str(policy.grant)
    if policy.form:
        headers.append(("content-type", "application/x-www-form-urlencoded"))
        return LoginMessage(provider, policy.url, headers, urlencode(sent).encode())
    headers.append(("content-type", "application/json"))
    return LoginMessage(provider, policy.url, headers, msgspec.json.encode(sent))


def read_token(policy: LoginPolicy, reply: LoginReply) -> IssuedToken:
    """The token in a reply; LoginProblem if there is none."""
    place = short_url(policy.url)
    if not 200 <= reply.status < 300:
        raise _refusal(policy, reply)
    found = _decoded(reply.body)
    if not isinstance(found, dict):
        words = f"{place} answered {reply.status} with a body that is not a JSON object"
        raise LoginProblem(words, FaultClass.TRANSIENT)
    value = _at(found, policy.token)
    if not isinstance(value, str) or not value:
        raise LoginProblem(
            f"the reply of {place} has no text in the field `{policy.token}`; name the right field"
            f" in `login.token`: the reply has {_names(found)}"
        )
    if not fits_a_header(value):
        raise LoginProblem(f"the token of {place} is not one line of plain text")
    refresh_token = found.get(REFRESH)
    return IssuedToken(
        value,
        _seconds(_at(found, policy.expires_in)) or policy.lifetime_s,
        refresh_token if isinstance(refresh_token, str) else "",
    )


def _refusal(policy: LoginPolicy, reply: LoginReply) -> LoginProblem:
    status = reply.status
    words = f"{short_url(policy.url)} answered {status}"
    if is_retryable_status(status):
        return LoginProblem(words, FaultClass.TRANSIENT)
    if status < 400 or status in {404, 405, 410}:
        return LoginProblem(f"{words}; check `login.url`")
    found = _decoded(reply.body)
    error = found.get("error") if isinstance(found, dict) else None
    code = f" ({error})" if error in OAUTH_ERRORS else ""
    origins = [str(each) for each in policy.fields.values() if isinstance(each, SecretOrigin)]
    return LoginProblem(f"{words}{code}; check {', '.join(origins) or 'the fields of the login'}")


def _decoded(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _at(found: Any, path: str) -> Any:
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _seconds(value: object) -> float | None:
    """A life in seconds; None if it is not a number above 0."""
    try:
        seconds = float(value) if isinstance(value, str | int | float) else 0.0
    except (ValueError, OverflowError):
        return None
    return seconds if 0.0 < seconds < math.inf else None


def _names(found: Mapping[str, Any]) -> str:
    names = [name for name in found if name.isidentifier() and len(name) <= 40]
    return ", ".join(names[:MOST_NAMED]) or "none"
