"""A service that gives out tokens at /login and wants the newest one everywhere else."""

import json
from typing import Any

from headgate.core.login import LoginPolicy, SecretOrigin
from headgate.core.provider import CredentialPolicy, InlineRetry, ProviderPolicy
from tests.kit.answers import Answer, Request, Script
from tests.kit.provider import Provider

SECRET = "pa55w0rd-of-ours"
TOKEN = "t0ken-of-theirs"
OF_API = "/page"


class LoginService:
    """A script for a `Provider`; each login brings another token, and ends the one before."""

    def __init__(self, provider: Provider, **reply: Any) -> None:
        self._provider = provider
        self._reply = reply
        self.logins: list[Request] = []
        self.valid = ""
        self.on_login: Script | None = None
        """Answers instead of it, if it is set."""
        self.on_page: Script | None = None
        self.login_s = 0.0
        """Seconds that a login takes."""
        provider.script = self

    def __call__(self, request: Request) -> Answer:
        if request.path == "/login":
            return self._log_in(request)
        return self.page(request) if self.on_page is None else self.on_page(request)

    def page(self, request: Request) -> Answer:
        """What a page answers by itself: 401 unless the token is the newest."""
        known = self.valid and f"Bearer {self.valid}" == request.headers.get("authorization")
        return Answer(200, body=b"hello") if known else Answer(401, body=b"who are you?")

    def revoke(self) -> None:
        """Accept no token until the next login."""
        self.valid = ""

    def policy(self, *others: CredentialPolicy, **login: Any) -> ProviderPolicy:
        """A provider with a login as its credential `0`, and others after it."""
        pool = (CredentialPolicy(login=self.login(**login)), *others)
        return ProviderPolicy(
            hosts=(f"127.0.0.1:{self._provider.port}",),
            credentials={str(number): each for number, each in enumerate(pool)},
            retry=InlineRetry(retries=0),
        )

    def login(self, **login: Any) -> LoginPolicy:
        """A login here, with its secret in the variable SECRET."""
        form = {"user": "me", "password": SecretOrigin(env="SECRET")}
        fields = {} if "json" in login else {"form": form}
        return LoginPolicy(**{"url": self._provider.url("/login"), **fields, **login})

    def _log_in(self, request: Request) -> Answer:
        self.logins.append(request)
        if self.on_login is not None:
            return self.on_login(request)
        self.valid = f"{TOKEN}-{len(self.logins)}"
        body = json.dumps({"access_token": self.valid, **self._reply}).encode()
        return Answer(200, body=body, delay_s=self.login_s)
