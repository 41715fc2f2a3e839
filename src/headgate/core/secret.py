"""Secrets in URLs and in free text: what must not be seen when one is shown."""

import re
from typing import Final
from urllib.parse import unquote_plus

HIDDEN: Final = "***"
_HINTS: Final = re.compile(
    r"pass(word|wd|phrase)|pwd|secret|token|signature|credential|auth|(api|access|private)[_-]?key"
)
_NAMES: Final = frozenset({"key", "pass", "sig", "sas", "jwt", "session", "sessionid"})
_SIGNED: Final = ("x-amz-", "x-goog-", "x-ms-")
"""How the parameters of a presigned URL begin; together they open what they name."""
_CREDENTIALS: Final = re.compile(r"(?<=://)[^/?#]*(?=@)")
_PARAMETER: Final = re.compile(r"(?<=[?&;#])([^=&;#]*)=([^&;#]*)")
_TEXT: Final = re.compile(
    r"(?i)((?:passw(?:or)?d|secret|token|api[_-]?key|authorization)['\"]?\s*[=:]\s*"
    r"(?:(?:bearer|basic)\s+)?['\"]?)[^\s'\"&,;]+"
)
_URL_PASSWORD: Final = re.compile(r"(://[^/\s:@]*:)[^/\s@]+@")


def redacted(text: str) -> str:
    """The text without passwords of URLs and without `token=…` and its like."""
    return _TEXT.sub(r"\1***", _URL_PASSWORD.sub(r"\1***@", text))


def without_secrets(url: str) -> str:
    """The URL with passwords, keys and signatures hidden; what is no URL is returned as it is."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        return url
    # The last @ ends the credentials: a careless password may hold one, or a slash, unescaped.
    credentials, at, place = rest.rpartition("@")
    shown = _without_password(scheme, credentials) if at else ""
    return f"{scheme}{separator}{shown}{at}{_PARAMETER.sub(_hidden, place)}"


def request_without_secrets(url: str) -> str:
    """The same for a URL that was asked for: no @ behind the host ends credentials."""
    scheme = url.partition("://")[0]
    shown = _CREDENTIALS.sub(lambda found: _without_password(scheme, found[0]), url)
    return _PARAMETER.sub(_hidden, shown)


def is_secret_name(name: str) -> bool:
    """Whether what is called so is better not shown."""
    name = unquote_plus(name).strip().lower()
    return name in _NAMES or name.startswith(_SIGNED) or _HINTS.search(name) is not None


def _without_password(scheme: str, credentials: str) -> str:
    user, colon, _ = credentials.partition(":")
    if colon:
        return f"{user}:{HIDDEN}"
    # On the web a user without a password is as a rule a token.
    return HIDDEN if scheme.lower() in {"http", "https"} and user else user


def _hidden(parameter: re.Match[str]) -> str:
    return f"{parameter[1]}={HIDDEN}" if is_secret_name(parameter[1]) else parameter[0]
