"""The words of `auth`: how a source knows us. `policy` makes credentials of them."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from headgate.core.login import SecretOrigin
from headgate.core.provider import Line

Plain = Annotated[str, Meta(max_length=2_000)]


class AuthWord(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    pass


class BearerAuth(AuthWord, frozen=True, tag="bearer"):
    token: SecretOrigin
    """Sent as `Authorization: Bearer …`."""


class ApiKeyAuth(AuthWord, frozen=True, tag="api_key"):
    api_key: SecretOrigin
    """Where the key is."""
    name: Line = "Authorization"
    """The name of the header or parameter."""
    location: Literal["header", "query"] = "header"
    """Where the key is sent."""
    prefix: Line = ""
    """Text before the key, such as `Token `."""


class HttpBasicAuth(AuthWord, frozen=True, tag="http_basic"):
    username: SecretOrigin | Plain
    """The user."""
    password: SecretOrigin | Literal[""] = ""
    """Where the password is; unset: it is empty."""


class LoginAuth(AuthWord, frozen=True, tag="login"):
    """A request whose reply has the token."""

    url: Plain
    """The address of the login: a path below `base_url`, or a URL."""
    form: Mapping[str, SecretOrigin | Plain] = {}
    """Fields that are sent as a form."""
    json: Mapping[str, SecretOrigin | Plain] = {}
    """Fields that are sent as JSON, instead of `form`."""
    token: Plain = "access_token"  # noqa: S105  the name of a field
    """A JMESPath expression over the reply."""
    expires_in: Plain = "expires_in"
    """A JMESPath expression for the seconds that the token lives."""
    header: Mapping[str, Plain] = {}
    """The header that has the token; empty: `Authorization = "Bearer {token}"`."""
    refresh_at: Annotated[float, Meta(gt=0, le=1)] = 0.9
    """The part of its life after which a token is renewed."""


class ClientCredentialsAuth(AuthWord, frozen=True, tag="oauth2_client_credentials"):
    access_token_url: Plain
    """The address that gives tokens."""
    client_id: SecretOrigin | Plain
    """The name of the client."""
    client_secret: SecretOrigin
    """Where the client's secret is."""
    access_token_request_data: Mapping[str, SecretOrigin | Plain] = {}
    """Further fields of the form, such as `scope`."""


class RefreshTokenAuth(AuthWord, frozen=True, tag="oauth2_refresh_token"):
    access_token_url: Plain
    """The address that gives tokens."""
    refresh_token: SecretOrigin
    """Where the refresh token is."""
    client_id: SecretOrigin | Plain = ""
    """The name of the client, if the source wants it."""
    client_secret: SecretOrigin | Literal[""] = ""
    """Where the client's secret is, if the source wants it."""
    scope: Plain = ""
    """The rights to ask for; empty: those of the refresh token."""


Auth = (
    BearerAuth | ApiKeyAuth | HttpBasicAuth | LoginAuth | ClientCredentialsAuth | RefreshTokenAuth
)


def login_of(auth: Auth | None) -> LoginAuth | None:
    """The login request of an auth that needs a token of its own; None for the others."""
    if isinstance(auth, LoginAuth):
        return auth
    if isinstance(auth, ClientCredentialsAuth):
        form = {
            "grant_type": "client_credentials",
            "client_id": auth.client_id,
            "client_secret": auth.client_secret,
            **auth.access_token_request_data,
        }
        return LoginAuth(auth.access_token_url, form)
    if isinstance(auth, RefreshTokenAuth):
        given = {
            "refresh_token": auth.refresh_token,
            "client_id": auth.client_id,
            "client_secret": auth.client_secret,
            "scope": auth.scope,
        }
        fields = {name: value for name, value in given.items() if value}
        return LoginAuth(auth.access_token_url, {"grant_type": "refresh_token", **fields})
    return None


def secrets_of(auth: Any) -> Iterator[SecretOrigin]:
    """Every secret in an auth."""
    if isinstance(auth, SecretOrigin):
        yield auth
    elif isinstance(auth, Mapping):
        for value in auth.values():
            yield from secrets_of(value)
    elif isinstance(auth, msgspec.Struct):
        for name in auth.__struct_fields__:
            yield from secrets_of(getattr(auth, name))
