"""The provider that a source describes: its hosts, limits and credentials."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin

import msgspec

from headgate.core.errors import UsageError
from headgate.core.identity import result_digest
from headgate.core.login import LoginPolicy, UserPassword
from headgate.core.provider import CachePolicy, CredentialPolicy, Placement, ProviderPolicy
from headgate.core.url import parse_origin, split_origin
from headgate.handlers.extract.auth import (
    ApiKeyAuth,
    Auth,
    BearerAuth,
    HttpBasicAuth,
    LoginAuth,
    login_of,
)
from headgate.handlers.extract.description import ClientWords, SourceDescription
from headgate.handlers.extract.request import SourceClient
from headgate.handlers.words.template import parse_template

CREDENTIAL = "source"
"""The name of the credential among those of its provider."""
BEARER = {"Authorization": "Bearer {token}"}
_HEADER = re.compile(r"([^{}]*)\{token\}")


def provider_name(words: ClientWords, client: SourceClient) -> str:
    """The provider of a source: the one that it names, else its host.

    Sources of one host share its gates. A credential makes a provider of its own, which no other
    source may replace; limits do so where there is no credential, since users may set them.
    """
    if words.provider:
        return words.provider
    host = re.sub(r"[^A-Za-z0-9_.-]", "-", parse_origin(split_origin(client.base_url)[0]).key)
    apart = [words.auth] if words.auth else [words.rate, words.burst, words.concurrency]
    if not any(apart):
        return f"extract-{host[:40]}"
    digest = result_digest("extract", "", msgspec.to_builtins({"apart": apart}))[:8]
    return f"extract-{host[:40]}-{digest}"


def provider_policy(description: SourceDescription, client: SourceClient) -> ProviderPolicy | None:
    """The settings of the source's provider; UsageError if they contradict each other.

    None: the operator's settings have them.
    """
    words = description.client
    if words.provider:
        _check_left_out(words)
        return None
    conditional = any(each.conditional for each in description.resources)
    try:
        credentials = credentials_of(words.auth, client)
        hosts = {*client.hosts, *(each.login.host for each in credentials.values() if each.login)}
        return ProviderPolicy(
            # Without a credential its limits are for this source, not for all who ask its host.
            hosts=tuple(sorted(hosts)) if credentials else (),
            rate=words.rate,
            burst=words.burst,
            concurrency=words.concurrency,
            credentials=credentials,
            cache=CachePolicy(enabled=conditional),
        )
    except ValueError as error:
        raise UsageError(f"client: {error}") from None


def credentials_of(auth: Auth | None, client: SourceClient) -> dict[str, CredentialPolicy]:
    """The credential that is sent with each request; ValueError if it cannot be sent so."""
    if isinstance(auth, BearerAuth):
        return {CREDENTIAL: CredentialPolicy(env=auth.token.env, file=auth.token.file)}
    if isinstance(auth, ApiKeyAuth):
        placement = Placement.HEADER if auth.location == "header" else Placement.QUERY
        key = auth.api_key
        policy = CredentialPolicy(
            env=key.env, file=key.file, placement=placement, name=auth.name, prefix=auth.prefix
        )
        return {CREDENTIAL: policy}
    if isinstance(auth, HttpBasicAuth):
        user = UserPassword(auth.username, auth.password or None)
        return {CREDENTIAL: CredentialPolicy(user=user, placement=Placement.BASIC)}
    login = login_of(auth)
    return {CREDENTIAL: _login_credential(login, client)} if login else {}


def _check_left_out(words: ClientWords) -> None:
    given = [name for name in ("auth", "rate", "burst", "concurrency") if getattr(words, name)]
    if given:
        raise UsageError(
            f"client.provider: the settings hold the credentials and limits of a provider; leave"
            f" out {', '.join(given)}, or the provider"
        )


def _login_credential(login: LoginAuth, client: SourceClient) -> CredentialPolicy:
    name, prefix = _placed(login.header or BEARER)
    url = parse_template(login.url, "client.auth.url").text(client.fixed)
    policy = LoginPolicy(
        url=client.base_url + url if url.startswith("/") else urljoin(client.base_url, url),
        form=_fields(login.form, client),
        json=_fields(login.json, client),
        token=login.token,
        expires_in=login.expires_in,
        refresh_at=login.refresh_at,
    )
    return CredentialPolicy(login=policy, placement=Placement.HEADER, name=name, prefix=prefix)


def _fields(given: Mapping[str, Any], client: SourceClient) -> dict[str, Any]:
    return {
        name: parse_template(value, f"client.auth.{name}").text(client.fixed)
        if isinstance(value, str)
        else value
        for name, value in given.items()
    }


def _placed(header: Mapping[str, str]) -> tuple[str, str]:
    """Name of the header that has the token, and the text before the token."""
    if len(header) != 1:
        raise ValueError("auth.header names one header, such as Authorization")
    ((name, text),) = header.items()
    match = _HEADER.fullmatch(text)
    if match is None:
        raise ValueError("auth.header ends with {token}, such as `Bearer {token}`")
    return name, match[1]
