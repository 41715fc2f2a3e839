"""Keys and tokens: read from where they are kept, put on requests to their own provider alone."""

import base64
import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.provider import CredentialPolicy, Placement, ProviderPolicy
from headgate.ports.wire import Headers


class CredentialMissing(AttemptOver):
    """A credential that the settings name cannot be read."""

    def __init__(self, provider: str, name: str, problem: str) -> None:
        reason = f"credential {name!r} of provider {provider!r}: {problem}"
        super().__init__(Fault(FaultClass.PERMANENT, reason))


class CredentialLeak(AttemptOver):
    """A redirect would carry a credential to another host."""

    def __init__(self, provider: str, name: str) -> None:
        reason = f"a redirect would carry credential {name!r} of {provider!r} to another host"
        super().__init__(Fault(FaultClass.PERMANENT, reason))


class CredentialWithheld(AttemptOver):
    """A user's request names a provider whose credential it may not have."""

    def __init__(self, provider: str, why: str) -> None:
        reason = f"provider {provider!r}: {why}; ask the operator, or leave out `provider`"
        super().__init__(Fault(FaultClass.PERMANENT, reason))


class Credential:
    """A value that nobody prints, and where it goes in a request."""

    __slots__ = ("_policy", "_value")

    def __init__(self, policy: CredentialPolicy, value: str) -> None:
        self._policy = policy
        self._value = value

    def __repr__(self) -> str:
        return f"Credential({self._policy.placement}, ***)"

    def put_on(self, url: str, headers: Headers) -> tuple[str, Headers]:
        """The URL and the headers with the credential in its place."""
        policy = self._policy
        if policy.placement is Placement.QUERY:
            return with_parameter(url, policy.name, self._value), headers
        name, text = self._header()
        return url, [*(header for header in headers if header[0] != name), (name, text)]

    def stands_in(self, url: str) -> bool:
        """Whether a URL, such as the target of a redirect, gives the value away."""
        return self._value in url or quote(self._value, safe="") in url

    def _header(self) -> tuple[str, str]:
        match self._policy.placement:
            case Placement.BASIC:
                return "authorization", "Basic " + base64.b64encode(self._value.encode()).decode()
            case Placement.HEADER:
                return self._policy.name.lower(), self._policy.prefix + self._value
            case _:
                return "authorization", "Bearer " + self._value


class Credentials:
    """The credentials of all providers, read when they are first needed."""

    def __init__(self, providers: Mapping[str, ProviderPolicy]) -> None:
        self._providers = providers
        self._read: dict[tuple[str, str], Credential | None] = {}

    def of(self, provider: str, name: str) -> Credential | None:
        """A credential by name; CredentialMissing, or None if the provider can do without it."""
        if (provider, name) not in self._read:
            self._read[provider, name] = self._load(provider, name)
        return self._read[provider, name]

    def _load(self, provider: str, name: str) -> Credential | None:
        policy = self._providers[provider].credentials.get(name)
        if policy is None:
            raise CredentialMissing(provider, name, "the settings declare no such credential")
        value, problem = _value(policy)
        if problem and policy.optional:
            return None
        if problem:
            raise CredentialMissing(provider, name, problem)
        return Credential(policy, value)

    def check_redirect(self, provider: str, url: str) -> None:
        """CredentialLeak if the target of a redirect repeats a credential that we have sent."""
        for (owner, name), credential in self._read.items():
            if owner == provider and credential is not None and credential.stands_in(url):
                raise CredentialLeak(provider, name)

    def problems(self, provider: str) -> list[str]:
        """What is wrong with a provider's credentials, before anything was sent."""
        found = []
        for name in self._providers[provider].credentials:
            try:
                self.of(provider, name)
            except CredentialMissing as missing:
                found.append(str(missing))
        return found


def with_parameter(url: str, name: str, value: str) -> str:
    """The URL with one more parameter."""
    mark = "&" if "?" in url else "?"
    return f"{url}{mark}{quote(name, safe='')}={quote(value, safe='')}"


def _value(policy: CredentialPolicy) -> tuple[str, str]:
    """The value, and what is wrong with it."""
    if policy.env:
        value = os.environ.get(policy.env, "")
        place = f"the environment variable {policy.env}"
    else:
        place = f"the file {policy.file}"
        try:
            value = Path(policy.file).expanduser().read_text(encoding="utf-8")
        except OSError as error:
            return "", f"cannot read {place}: {error.strerror}"
        except UnicodeDecodeError:
            return "", f"{place} holds no text"
    value = value.strip()
    if not value:
        return "", f"{place} is empty or not set"
    if not (value.isascii() and value.isprintable()):
        return "", f"{place} holds more than one line of plain text"
    return value, ""
