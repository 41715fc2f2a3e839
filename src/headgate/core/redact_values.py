"""Secrets in URLs and values: hides what must not be shown or stored."""

from collections.abc import Mapping
from typing import Any, Final

from headgate.core.pattern import pattern
from headgate.core.redact_text import (
    HIDDEN,
    is_secret,
    is_secret_name,
    redacted,
    redacted_parameter,
)

DEEPEST: Final = 50
"""Depth of lists and mappings beyond which values are hidden, and not searched for secrets."""
_CREDENTIALS: Final = pattern(r"(?<=://)[^/?#]*(?=@)")
_PARAMETER: Final = pattern(r"(?<=[?&;#])([^=?&;#]*)=([^&;#]*)")

# ---- URLs ---------------------------------------------------------------------------------------


def without_secrets(url: str) -> str:
    """The URL with passwords, keys and signatures hidden; other text is returned as it is."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        return url
    # The last @ ends the credentials: a careless password may contain one, or a slash, unescaped.
    credentials, at, place = rest.rpartition("@")
    shown = _without_password(scheme, credentials) if at else ""
    return f"{scheme}{separator}{shown}{at}{_PARAMETER.sub(redacted_parameter, place)}"


def request_without_secrets(url: str) -> str:
    """The requested URL with secrets hidden; here an @ after the host does not end credentials."""
    scheme = url.partition("://")[0]
    shown = _CREDENTIALS.sub(lambda found: _without_password(scheme, found[0]), url)
    return _PARAMETER.sub(redacted_parameter, shown)


def source_without_secrets(source: str) -> str:
    return redacted(without_secrets(source))


def _without_password(scheme: str, credentials: str) -> str:
    user, colon, _ = credentials.partition(":")
    if colon:
        return f"{user}:{HIDDEN}"
    # On the web a user without a password is usually a token.
    return HIDDEN if scheme.lower() in {"http", "https"} and user else user


# ---- values -------------------------------------------------------------------------------------


def values_without_secrets(value: Any, name: str = "", depth: int = 0) -> Any:
    if depth > DEEPEST or (name and is_secret(name, value)):
        return HIDDEN
    if isinstance(value, Mapping):
        return _redacted_mapping(value, depth + 1)
    if isinstance(value, (list, tuple)):
        if len(value) == 2 and is_secret_name(_as_text(value[0])):
            return [value[0], HIDDEN]  # a pair of a name and its value, as headers may be given
        return [values_without_secrets(each, "", depth + 1) for each in value]
    return redacted(value) if isinstance(value, str) else value


def _redacted_mapping(value: Mapping[Any, Any], depth: int) -> dict[Any, Any]:
    shown = {
        inner: values_without_secrets(each, str(inner), depth) for inner, each in value.items()
    }
    for name in ("name", "key"):  # a name and its value, as lists of settings have them
        named = value.get(name)
        if isinstance(named, str) and "value" in value and is_secret(named, value["value"]):
            shown |= {name: redacted(named), "value": HIDDEN}
    return shown


def _as_text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return value if isinstance(value, str) else ""
