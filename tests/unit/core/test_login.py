"""A login is checked when the settings are read, and no secret may be part of them."""

import msgspec
import pytest

from headgate.core.login import LoginPolicy, SecretOrigin
from headgate.core.provider import ProviderPolicy

URL = "https://api.example.org/login"
FORM = {"user": "me", "password": {"env": "SECRET"}}
CLIENT = {"client_id": {"env": "ID"}, "client_secret": {"file": "~/secret"}}


def read(**values: object) -> LoginPolicy:
    return msgspec.convert({"url": URL, **values}, LoginPolicy)


def test_a_login_is_read_from_settings():
    policy = read(form=CLIENT | {"scope": "read"}, grant="client_credentials", client_place="basic")
    assert policy.fields["client_secret"] == SecretOrigin(file="~/secret")
    assert policy.host == "api.example.org"
    assert policy.refresh_at == 0.9


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"form": FORM, "url": "api.example.org/login"}, "login.url: .* must begin with http"),
        ({"form": FORM, "url": "https://me:pw@api.example.org/"}, "login.url: .* user or a pass"),
        ({"form": FORM, "url": f"{URL}?api_key=abc"}, "login.url contains a secret"),
        ({}, "either `form` or `json`"),
        ({"form": FORM, "json": FORM}, "either `form` or `json`"),
        ({"form": {"password": "abc"}}, "`password` may not be in the settings"),
        ({"json": {"clientSecret": "abc"}}, "`clientSecret` may not be in the settings"),
        ({"form": {"password": {}}}, "either `env` or `file`"),
        ({"form": {"password": {"env": "A", "file": "b"}}}, "either `env` or `file`"),
        ({"form": FORM, "grant": "client_credentials"}, "needs the field `client_id`"),
        ({"form": CLIENT, "grant": "refresh_token"}, "needs the field `refresh_token`"),
        ({"form": FORM, "client_place": "basic"}, "needs the field `client_id`"),
        ({"form": FORM, "grant": "password"}, "Invalid enum value 'password'"),
        ({"form": FORM, "token": "a..b"}, "matching regex"),
        ({"form": FORM, "refresh_at": 1.1}, "<= 1"),
        ({"form": FORM, "refresh_at": 0}, "> 0"),
        ({"form": FORM, "lifetime_s": 0}, "> 0"),
        ({"form": FORM, "tokn": "id"}, "unknown field `tokn`"),
    ],
)
def test_a_login_that_cannot_work_is_refused_with_the_reason(
    values: dict[str, object], problem: str
):
    with pytest.raises(msgspec.ValidationError, match=problem):
        read(**values)


def test_a_field_that_names_a_kind_of_token_is_not_a_secret():
    assert read(form=FORM | {"subject_token_type": "urn:x"}).fields["subject_token_type"] == "urn:x"


@pytest.mark.parametrize("hosts", [["www.example.org"], ["api.example.org:8443"], ["*.api.org"]])
def test_secrets_are_sent_only_to_a_declared_host(hosts: list[str]):
    given = {"hosts": hosts, "credentials": {"main": {"login": {"url": URL, "form": FORM}}}}
    with pytest.raises(msgspec.ValidationError, match="is not one of the `hosts`"):
        msgspec.convert(given, ProviderPolicy)


def test_a_login_may_be_on_any_declared_host():
    given = {
        "hosts": ["data.example.net", "*.example.org"],
        "credentials": {"main": {"login": {"url": URL, "form": FORM}}},
    }
    assert msgspec.convert(given, ProviderPolicy).logs_in
