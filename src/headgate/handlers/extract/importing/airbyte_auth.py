"""Authenticators of a manifest as `client.auth`."""

import ast
from collections.abc import Mapping
from typing import Any

from headgate.handlers.extract.importing.imported import NotConvertible
from headgate.handlers.extract.importing.jinja import (
    jmespath,
    only_expression,
    pieces,
    reference,
    shown,
)
from headgate.handlers.extract.importing.values import ConnectorSettings, Filling, Tree


def auth_of(tree: Tree | None, settings: ConnectorSettings) -> dict[str, Any] | None:
    """The words of `auth`; None where a request needs none."""
    if not tree or tree.get("type") == "NoAuth":
        return None
    make = _KINDS.get(str(tree.get("type")))
    if make is None:
        raise NotConvertible(f"the authenticator {tree.get('type')}")
    return make(tree, settings)


def _bearer(tree: Tree, settings: ConnectorSettings) -> dict[str, Any]:
    prefix, token = _secret(tree.get("api_token"), settings)
    if prefix:
        return {
            "type": "api_key",
            "name": "Authorization",
            "api_key": token,
            "prefix": f"Bearer {prefix}",
        }
    return {"type": "bearer", "token": token}


def _api_key(tree: Tree, settings: ConnectorSettings) -> dict[str, Any]:
    place = tree.get("inject_into") or {}
    name = str(tree.get("header") or place.get("field_name") or "")
    where = place.get("inject_into", "header")
    if where not in {"header", "request_parameter"} or not name:
        raise NotConvertible(f"an API key in {where}")
    prefix, key = _secret(tree.get("api_token"), settings)
    words = {"type": "api_key", "name": Filling(settings).text(name), "api_key": key}
    if where == "request_parameter":
        if prefix:
            raise NotConvertible("an API key with a prefix in a parameter")
        return {**words, "location": "query"}
    return {**words, "prefix": prefix} if prefix else words


def _basic(tree: Tree, settings: ConnectorSettings) -> dict[str, Any]:
    username = _origin(tree.get("username"), settings)
    password = _origin(tree.get("password"), settings)
    words = {"type": "http_basic", "username": username}
    if isinstance(password, str) and password:
        raise NotConvertible("a password that is not a setting")
    return {**words, "password": password} if password else words


def _oauth(tree: Tree, settings: ConnectorSettings) -> dict[str, Any]:
    if tree.get("profile_assertion") or tree.get("use_profile_assertion"):
        raise NotConvertible("OAuth with a profile assertion")
    grant = tree.get("grant_type", "refresh_token")
    endpoint = tree.get("token_refresh_endpoint")
    if not endpoint:
        return _access_token(tree, settings)
    words: dict[str, Any] = {
        "access_token_url": Filling(settings).text(endpoint),
        "client_id": _origin(tree.get("client_id"), settings),
        "client_secret": _origin(tree.get("client_secret"), settings, secret=True),
    }
    if grant == "client_credentials":
        extra = {
            name: Filling(settings).text(value)
            for name, value in (tree.get("refresh_request_body") or {}).items()
        }
        if scopes := tree.get("scopes"):
            extra["scope"] = " ".join(scopes)
        words = {"type": "oauth2_client_credentials", **words}
        return {**words, "access_token_request_data": extra} if extra else words
    if grant != "refresh_token":
        raise NotConvertible(f"OAuth by {shown(grant)}")
    refresh = _origin(tree.get("refresh_token"), settings, secret=True)
    return {"type": "oauth2_refresh_token", **words, "refresh_token": refresh}


def _access_token(tree: Tree, settings: ConnectorSettings) -> dict[str, Any]:
    if not tree.get("access_token_value"):
        raise NotConvertible("OAuth without the address that gives tokens")
    return {"type": "bearer", "token": _secret(tree["access_token_value"], settings)[1]}


def _session(tree: Tree, settings: ConnectorSettings) -> dict[str, Any]:
    login = tree.get("login_requester") or {}
    sent = tree.get("request_authentication") or {}
    if login.get("authenticator") and login["authenticator"].get("type") != "NoAuth":
        raise NotConvertible("a login that needs another authenticator")
    if str(login.get("http_method", "GET")).upper() != "POST":
        raise NotConvertible("a login that is not a POST")
    filling = Filling(settings)
    url = filling.text(login.get("url") or login.get("url_base", ""))
    if path := filling.text(login.get("path", "")):
        url = f"{url.rstrip('/')}/{path.lstrip('/')}"
    words: dict[str, Any] = {
        "type": "login",
        "url": url,
        "token": jmespath(tree.get("session_token_path") or ["access_token"]),
        "expires_in": "",
        "header": {"Authorization": "Bearer {token}"},
    }
    if sent.get("type") == "ApiKey":
        place = sent.get("inject_into") or {}
        if place.get("inject_into") != "header":
            raise NotConvertible("a session token that is not sent in a header")
        words["header"] = {str(place.get("field_name")): "{token}"}
    for word, member in (("json", "request_body_json"), ("form", "request_body_data")):
        if isinstance(body := login.get(member), Mapping):
            words[word] = {name: _origin(each, settings) for name, each in body.items()}
    return words


def _selected(tree: Tree, settings: ConnectorSettings) -> dict[str, Any] | None:
    """The first of several that can be converted."""
    reasons = []
    for each in (tree.get("authenticators") or {}).values():
        try:
            return auth_of(each, settings)
        except NotConvertible as error:
            reasons.append(str(error))
    raise NotConvertible(", ".join(reasons) or "an authenticator without a choice")


_KINDS = {
    "ApiKeyAuthenticator": _api_key,
    "BasicHttpAuthenticator": _basic,
    "BearerAuthenticator": _bearer,
    "OAuthAuthenticator": _oauth,
    "SelectiveAuthenticator": _selected,
    "SessionTokenAuthenticator": _session,
}


def _secret(value: object, settings: ConnectorSettings) -> tuple[str, dict[str, str]]:
    """The text before a secret, and where the secret is."""
    found = pieces(str(value or ""))
    if not found or not isinstance(found[-1], ast.expr):
        raise NotConvertible("a secret that is not a setting")
    prefix, last = found[:-1], reference(found[-1])
    plain = [each for each in prefix if isinstance(each, str)]
    if len(plain) < len(prefix) or last is None or last.root != "config" or not last.steps:
        raise NotConvertible(f"the secret {shown(value)}")
    return "".join(plain), {"env": settings.variable(last)}


def _origin(value: object, settings: ConnectorSettings, *, secret: bool = False) -> Any:
    """A setting comes from the environment, since `auth` has no other place for it."""
    node = only_expression(value)
    found = None if node is None else reference(node)
    if found is not None and found.root == "config" and found.steps:
        return {"env": settings.variable(found)}
    if secret:
        raise NotConvertible("a secret that is not a setting")
    return Filling(settings).text(value or "")
