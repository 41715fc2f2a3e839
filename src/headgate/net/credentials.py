"""Credentials: read from their source, and sent only to their own provider."""

import base64
import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.login import SecretOrigin, UserPassword
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
    """A user's request names a provider whose credential users may not use."""

    def __init__(self, provider: str, why: str) -> None:
        reason = f"provider {provider!r}: {why}; ask the operator, or leave out `provider`"
        super().__init__(Fault(FaultClass.PERMANENT, reason))


class Credential:
    """A secret value and its place in a request; `repr` hides the value."""

    __slots__ = ("_policy", "_value")

    def __init__(self, policy: CredentialPolicy, value: str) -> None:
        self._policy = policy
        self._value = value

    def __repr__(self) -> str:
        return f"Credential({self._policy.placement}, ***)"

    def put_on(self, url: str, headers: Headers) -> tuple[str, Headers]:
        policy = self._policy
        if policy.placement is Placement.QUERY:
            return with_parameter(url, policy.name, self._value), headers
        name, text = self._header()
        return url, [*(header for header in headers if header[0] != name), (name, text)]

    def appears_in(self, url: str) -> bool:
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
    """The credentials of all providers, read when they are first needed, or brought by a login."""

    def __init__(self, providers: Mapping[str, ProviderPolicy]) -> None:
        self._providers = providers
        self._read: dict[tuple[str, str], Credential | None] = {}
        self._replaced: dict[tuple[str, str], Credential | None] = {}
        """Tokens that a newer one has just replaced: answers to them may still arrive."""

    def of(self, provider: str, name: str) -> Credential | None:
        """Return a credential; None if it is optional and absent, else CredentialMissing."""
        if (provider, name) not in self._read:
            self._read[provider, name] = self._load(provider, name)
        return self._read[provider, name]

    def replace(self, provider: str, name: str, credential: Credential | None) -> None:
        """Use what a login has brought; None if the secrets of an optional login are missing."""
        self._replaced[provider, name] = self._read.get((provider, name))
        self._read[provider, name] = credential

    def _load(self, provider: str, name: str) -> Credential | None:
        policy = self._providers[provider].credentials.get(name)
        if policy is None:
            raise CredentialMissing(provider, name, "the settings do not declare this credential")
        value, problem = _header_value(policy)
        if problem and policy.optional:
            return None
        if problem:
            raise CredentialMissing(provider, name, problem)
        return Credential(policy, value)

    def check_redirect(self, provider: str, url: str) -> None:
        """Raise CredentialLeak if the target of a redirect contains a credential that was sent."""
        for (owner, name), credential in (*self._read.items(), *self._replaced.items()):
            if owner == provider and credential is not None and credential.appears_in(url):
                raise CredentialLeak(provider, name)

    def problems(self, provider: str) -> list[str]:
        """What cannot be read, in words. Nothing is sent: whether a login succeeds is not known."""
        found = []
        for name, policy in self._providers[provider].credentials.items():
            try:
                if policy.login:
                    login_fields(provider, name, policy)
                else:
                    self.of(provider, name)
            except CredentialMissing as missing:
                found.append(str(missing))
        return found


def with_parameter(url: str, name: str, value: str) -> str:
    mark = "&" if "?" in url else "?"
    return f"{url}{mark}{quote(name, safe='')}={quote(value, safe='')}"


def login_fields(provider: str, name: str, policy: CredentialPolicy) -> dict[str, str] | None:
    """The fields that a login sends, with their secrets.

    None if a secret of an optional credential is missing, else CredentialMissing.
    """
    fields: dict[str, str] = {}
    for field, value in (policy.login.fields if policy.login else {}).items():
        fields[field], problem = (value, "") if isinstance(value, str) else read_secret(value)
        if problem and policy.optional:
            return None
        if problem:
            raise CredentialMissing(provider, name, f"`{field}` of its login: {problem}")
    return fields


def read_secret(origin: SecretOrigin) -> tuple[str, str]:
    """Return the value and the problem with it; one of them is empty."""
    if origin.env:
        value = os.environ.get(origin.env, "")
    else:
        try:
            value = Path(origin.file).expanduser().read_text(encoding="utf-8")
        except OSError as error:
            return "", f"cannot read {origin}: {error.strerror}"
        except UnicodeDecodeError:
            return "", f"{origin} is not a text file"
    value = value.strip()
    if value != value.encode(errors="ignore").decode():
        return "", f"{origin} is not UTF-8 text"
    return (value, "") if value else ("", f"{origin} is empty or not set")


def fits_a_header(value: str) -> bool:
    return value.isascii() and value.isprintable()


def _header_value(policy: CredentialPolicy) -> tuple[str, str]:
    if policy.user is not None:
        return _user_and_password(policy.user)
    origin = SecretOrigin(policy.env, policy.file)
    value, problem = read_secret(origin)
    if value and not fits_a_header(value):
        return "", f"{origin} must hold one line of plain text"
    return value, problem


def _user_and_password(user: UserPassword) -> tuple[str, str]:
    name, password = user.username, user.password
    name, problem = (name, "") if isinstance(name, str) else read_secret(name)
    if problem:
        return "", problem
    if ":" in name:
        return "", "the user's name has a colon, which separates it from the password"
    secret, problem = read_secret(password) if password else ("", "")
    return ("", problem) if problem else (f"{name}:{secret}", "")
