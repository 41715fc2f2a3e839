"""Browsers: callers with a session instead of a token."""

import http.cookies
import json
from collections.abc import Mapping

from tests.kit.api_server import Answer, ApiServer, Caller


def log_in(api: ApiServer, come_from: str = "", **asked: str) -> Answer:
    """Ask for a session, as a client behind a proxy if `come_from` is an address."""
    headers = {"Content-Type": "application/json"}
    if come_from:
        headers["X-Forwarded-For"] = come_from
    body = json.dumps(asked).encode()
    return api.nobody().ask("POST", "/api/login", body=body, headers=headers)


def cookie_of(answer: Answer) -> http.cookies.Morsel[str]:
    """The cookie of a session, with its attributes."""
    jar: http.cookies.SimpleCookie = http.cookies.SimpleCookie(answer.headers["Set-Cookie"])
    return jar["headgate_session"]


class Browser(Caller):
    """A caller with a session; `csrf` is what a page of ours would show."""

    def __init__(self, url: str, answer: Answer) -> None:
        super().__init__(url, None)
        self.cookie = cookie_of(answer).value
        self.csrf: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        """What proves who is asking."""
        proof: Mapping[str, str] = {"X-CSRF-Token": self.csrf} if self.csrf else {}
        return {"Cookie": f"headgate_session={self.cookie}", **proof}
