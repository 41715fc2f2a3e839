"""The provider that a source describes: its hosts, limits and credentials."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin

import msgspec

from headgate.core.errors import UsageError
from headgate.core.identity import result_digest
from headgate.core.login import LoginPolicy
from headgate.core.provider import CachePolicy, CredentialPolicy, Placement, ProviderPolicy
from headgate.core.url import parse_origin, split_origin
from headgate.handlers.extract.auth import (
    ApiKeyAuth,
    Auth,
    BearerAuth,
    LoginAuth,
    login_of,
)
from headgate.handlers.extract.description import SourceDescription
from headgate.handlers.extract.request import SourceClient
from headgate.handlers.words.template import parse_template

CREDENTIAL = "source"
"""The name of the credential among those of its provider."""
BEARER = {"Authorization": "Bearer {token}"}
_HEADER = re.compile(r"([^{}]*)\{token\}")


def provider_name(client: SourceClient, policy: ProviderPolicy) -> str:
    """The provider of a source: its host, and its policy, which no other source may replace."""
    key = parse_origin(split_origin(client.base_url)[0]).key
    digest = result_digest("extract", "", msgspec.to_builtins(policy))[:8]
    return f"extract-{re.sub(r'[^A-Za-z0-9_.-]', '-', key)[:40]}-{digest}"


def provider_policy(description: SourceDescription, client: SourceClient) -> ProviderPolicy:
    """The settings of the source's provider; UsageError if they contradict each other."""
    words = description.client
    conditional = any(each.conditional for each in description.resources)
    try:
        credentials = credentials_of(words.auth, client)
        hosts = {*client.hosts, *(each.login.host for each in credentials.values() if each.login)}
        return ProviderPolicy(
            hosts=tuple(sorted(hosts)),
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
    login = login_of(auth)
    return {CREDENTIAL: _login_credential(login, client)} if login else {}


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
