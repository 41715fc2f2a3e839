"""A login: a request whose reply holds the token of a credential."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta

from headgate.core.bounds import Seconds, Share
from headgate.core.redact_text import is_secret_name
from headgate.core.redact_values import request_without_secrets
from headgate.core.url import BadUrl, parse_origin, split_origin


class SecretOrigin(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a secret is: no settings file contains the secret itself."""

    env: str = ""
    """The environment variable that holds the value."""
    file: str = ""
    """The file that holds the value."""

    def __post_init__(self) -> None:
        if bool(self.env) == bool(self.file):
            raise ValueError("a secret needs either `env` or `file`, where its value is kept")

    def __str__(self) -> str:
        return f"the environment variable {self.env}" if self.env else f"the file {self.file}"


FieldName = Annotated[str, Meta(min_length=1, max_length=100)]
FieldValue = Annotated[str, Meta(max_length=2_000)] | SecretOrigin
FieldPath = Annotated[str, Meta(pattern=r"^[^.\s]+(\.[^.\s]+)*$", max_length=200)]


class UserPassword(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A user and a password that are kept apart."""

    username: FieldValue
    """The user: text, `{env = "NAME"}` or `{file = "PATH"}`."""
    password: SecretOrigin | None = None
    """Where the password is; unset: it is empty."""


class Grant(StrEnum):
    CLIENT_CREDENTIALS = "client_credentials"
    REFRESH_TOKEN = "refresh_token"  # noqa: S105  the name of a grant


class ClientPlace(StrEnum):
    FORM = "form"
    BASIC = "basic"


CLIENT = ("client_id", "client_secret")
REFRESH = "refresh_token"
"""The field of the request and of the reply that holds a refresh token."""
_NEEDED: Mapping[Grant, tuple[str, ...]] = {
    Grant.CLIENT_CREDENTIALS: CLIENT,
    Grant.REFRESH_TOKEN: (REFRESH,),
}


class LoginPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The request that brings a token, and where its reply has it."""

    url: str
    """The address of the login, on one of the provider's hosts. The request is a POST."""
    form: Mapping[FieldName, FieldValue] = {}
    """The fields to send as a form. A secret is `{env = "NAME"}` or `{file = "PATH"}`; other values
    are text."""
    json: Mapping[FieldName, FieldValue] = {}
    """The fields to send as JSON, instead of `form`."""
    grant: Grant | None = None
    """For OAuth2: sends this `grant_type`, and requires the fields that it needs."""
    client_place: ClientPlace = ClientPlace.FORM
    """For OAuth2: where `client_id` and `client_secret` are sent, among the fields or in the header
    `Authorization: Basic …`."""
    token: FieldPath = "access_token"  # noqa: S105  the name of a field
    """The field of the reply that holds the token; dots lead to inner fields, as in `data.token`.
    """
    expires_in: FieldPath = "expires_in"
    """The field of the reply that holds the life of the token in seconds."""
    lifetime_s: Seconds | None = None
    """Life of a token in seconds if the reply does not say it. Without both, a token is used until
    it is refused."""
    refresh_at: Share = 0.9
    """Share of its life after which a token is renewed."""

    def __post_init__(self) -> None:
        _check_url(self.url)
        if bool(self.form) == bool(self.json):
            raise ValueError("a login needs either `form` or `json`, the fields that it sends")
        for name, value in self.fields.items():
            _check_secret(name, value)
        needed = _NEEDED[self.grant] if self.grant else ()
        if self.client_place is ClientPlace.BASIC:
            needed = (*needed, *CLIENT)
        for name in needed:
            if name not in self.fields:
                raise ValueError(f"this login needs the field `{name}` in its form")

    @property
    def fields(self) -> Mapping[str, str | SecretOrigin]:
        return self.form or self.json

    @property
    def host(self) -> str:
        """The key of the login's host, as in `core.url`."""
        return parse_origin(split_origin(self.url)[0]).key


def _check_url(url: str) -> None:
    try:
        parse_origin(split_origin(url)[0])
    except BadUrl as error:
        raise ValueError(f"login.url: {error}") from error
    if request_without_secrets(url) != url:
        raise ValueError("login.url contains a secret: send it as a field of `form` or `json`")


def _check_secret(name: str, value: str | SecretOrigin) -> None:
    # A name such as `subject_token_type` says what kind of token another field has.
    if isinstance(value, str) and is_secret_name(name) and not name.endswith("_type"):
        raise ValueError(
            f"the value of `{name}` may not be in the settings: put it in a variable or a file, and"
            ' write { env = "NAME" } or { file = "PATH" }'
        )
