"""Secrets in names, URLs, values and free text: what must not be seen when one is shown or kept.

One list of names decides everywhere: for configs, URLs, error texts, histories, events and logs.
"""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote_plus

from headgate.core.pattern import pattern

HIDDEN: Final = "***"
DEEPEST: Final = 50
"""Values inside more lists and mappings than these are hidden, and not searched for secrets."""
_CAMEL: Final = pattern(r"(?<=[a-z0-9])(?=[A-Z])")
_HINTS: Final = pattern(
    r"pass(word|wd|phrase|code)|pwd|secret|token|signature|credential|bearer|cookie"
    r"|auth(?!or(?!i[sz]))"  # but not `author`
    r"|(api|access|private)[_-]?key"
)
_NAMES: Final = frozenset({"key", "pass", "sig", "sas", "jwt", "session", "sessionid", "otp"})
_SIGNED: Final = ("x-amz-", "x-goog-", "x-ms-")
"""How the parameters of a presigned URL begin; together they open what they name."""
_KEY: Final = pattern(r"(?:^|[_.\- ])([a-z0-9]+)[_.\- ]key$")
_PLAIN_KEY: Final = pattern(
    r"cache|column|dedup|dict|field|foreign|gate|group|idempotency|item|job|join|json|lookup|map"
    r"|natural|object|order|partition|primary|public|record|result|row|sort|source|unique"
)
"""Words before `key` that make it something else than a secret."""
_COUNT: Final = pattern(r"tokens", re.IGNORECASE)
"""Numbers under such a name are amounts: `max_tokens`."""
_CREDENTIALS: Final = pattern(r"(?<=://)[^/?#]*(?=@)")
_PARAMETER: Final = pattern(r"(?<=[?&;#])([^=?&;#]*)=([^&;#]*)")

# ---- free text ----------------------------------------------------------------------------------

_ANY: Final = (
    *("pass", "pwd", "secret", "token", "key", "auth", "bearer", "basic", "cookie", "credential"),
    *("signature", "sig=", "sas=", "otp=", "jwt", "session", "://", "eyj", "ghp_", "gho_", "ghu_"),
    *("ghs_", "ghr_", "github_pat", "sk-", "xox", "glpat", "akia", "aiza", "hg_"),
)
"""Text without any of these holds no secret that we could know; most text is decided here."""
_PEM: Final = pattern(
    r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,20}PRIVATE KEY-----|\Z)",
    re.DOTALL,
)
_URL_PASSWORD: Final = pattern(r"(://[^/\s:@]*:)(?!\d{1,5}(?:[/?#\s]|$))[^\s\"'<>`]{1,300}@")
_URL_TOKEN: Final = pattern(r"(?i)(\bhttps?://)[^/\s:@\"'<>`?#]{1,300}@")
_URL_PARAMETER: Final = pattern(r"(?<=[?&])([\w.%~-]{1,80})=([^&#\s\"'<>`]+)")
_COOKIES: Final = pattern(r"(?i)(\bcookies?['\"]?\s*[:=]\s*['\"]?)(?=\w+=)[^\n'\"]+")
_PAIR: Final = pattern(
    r"""(?ix)
    (?:passw(?:or)?d|passphrase|passcode|pwd|secret|token|signature|credential|authorization|bearer
      |(?:api|access|private)[_-]?key|(?<![a-z])(?:auth|pass|sig|sas|jwt|otp|session(?:id)?)(?=\s*=))
    s?\d{0,3}(?:[_-]\w{1,30})?
    (?P<join>["']\s*,\s*(?=["'])|["'\]]{0,2}\s*[=:]>?\s*)
    (?P<scheme>(?:bearer|basic|digest|token|apikey|key|oauth|negotiate|aws4-hmac-sha256)\s+)?
    (?P<value>"[^"\n]*"?|'[^'\n]*'?|[^\s"'`,;&)\]}<>]+)
    """
)
_SCHEME: Final = pattern(r"(?i)\b((?:bearer|basic)\s+)(?=[\w.~+/=-]*\d)[\w.~+/=-]{12,}")
_SHAPES: Final = pattern(
    # Whatever begins like a JWT: to look for its dots from each beginning takes quadratic time.
    r"\beyJ[\w-]{8,}(?:\.{1,2}[\w-]+){0,4}|\bAKIA[0-9A-Z]{16}\b|\bsk-[\w-]{16,}"
    r"|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bxox[abeoprs]-[\w-]{10,}|\bglpat-[\w-]{16,}"
    r"|\bAIza[\w-]{30,}|\bhg_[\w-]{20,}"
)
_PROSE: Final = pattern(
    r"a|all|an|and|are|as|at|be|been|but|by|can|cannot|could|did|does|expected|expired|false|field"
    r"|for|from|given|had|has|have|if|in|input|into|invalid|is|it|its|may|missing|must|no|none|not"
    r"|null|of|on|one|only|or|required|should|string|such|that|the|this|to|too|true|unknown|value"
    r"|was|were|when|which|will|with|without|wrong"
)
"""Words that follow a colon in a sentence: `password: should have at most 1000 characters`."""


def redacted(text: str) -> str:
    """The text without what looks like a secret: passwords of URLs, `token=…` and their like.

    Sentences that only speak of secrets stay as they are.
    """
    lowered = text.lower()
    for hint in _ANY:  # several times as fast as one pattern for all
        if hint in lowered:
            break
    else:
        return text
    if "://" in text:
        text = _URL_PASSWORD.sub(rf"\1{HIDDEN}@", text)
        text = _URL_TOKEN.sub(rf"\1{HIDDEN}@", text)
        text = _URL_PARAMETER.sub(_hidden, text)
    text = _PEM.sub(HIDDEN, text)
    text = _COOKIES.sub(rf"\1{HIDDEN}", text)
    text = _PAIR.sub(_pair_hidden, text)
    return _SHAPES.sub(HIDDEN, _SCHEME.sub(rf"\1{HIDDEN}", text))


def _pair_hidden(found: re.Match[str]) -> str:
    value = found["value"]
    quote = value[0] if value[0] in "\"'" else ""
    inner = value.strip("\"'") if quote else value
    kept = found[0][: -len(value)]
    if not _looks_secret(kept, inner, quoted=bool(quote), colon=":" in found["join"]):
        return found[0]
    return f"{kept}{quote}{HIDDEN}{quote if len(value) > 1 and value[-1] == quote else ''}"


def _looks_secret(name: str, value: str, *, quoted: bool, colon: bool) -> bool:
    """Whether the second half of a pair is a secret, and not a word or a place for one."""
    if not any(map(str.isalnum, value)) or HIDDEN in value or "…" in value:
        return False
    if value[0] in "$<{[" or (value.isupper() and value.replace("_", "").isalpha()):
        return False  # stands for a secret: $TOKEN, <token>, TOKEN
    if _COUNT.search(name) and (value[0].isdigit() or (colon and not quoted)):
        return False  # an amount such as 1,200 or 5000/min, or a sentence about tokens
    return quoted or not colon or _PROSE.fullmatch(value.rstrip(".:!?").lower()) is None


# ---- URLs ---------------------------------------------------------------------------------------


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


def source_without_secrets(source: str) -> str:
    """Where a job's rows come from, without credentials."""
    return redacted(without_secrets(source))


def _without_password(scheme: str, credentials: str) -> str:
    user, colon, _ = credentials.partition(":")
    if colon:
        return f"{user}:{HIDDEN}"
    # On the web a user without a password is as a rule a token.
    return HIDDEN if scheme.lower() in {"http", "https"} and user else user


def _hidden(parameter: re.Match[str]) -> str:
    name, value = parameter[1], parameter[2]
    return f"{name}={HIDDEN}" if _is_secret(name, value) else parameter[0]


# ---- names and values ---------------------------------------------------------------------------


def is_secret_name(name: str) -> bool:
    """Whether what is called so is better not shown."""
    name = _CAMEL.sub("_", unquote_plus(name)).strip().lower()
    if name in _NAMES or name.startswith(_SIGNED) or _HINTS.search(name) is not None:
        return True
    key = _KEY.search(name)
    return key is not None and _PLAIN_KEY.fullmatch(key[1]) is None


def values_without_secrets(value: Any, name: str = "", depth: int = 0) -> Any:
    """A value as it may be shown under a name, whatever it is made of."""
    if depth > DEEPEST or (name and _is_secret(name, value)):
        return HIDDEN
    if isinstance(value, Mapping):
        return _mapping_shown(value, depth + 1)
    if isinstance(value, (list, tuple)):
        if len(value) == 2 and isinstance(value[0], str) and is_secret_name(value[0]):
            return [value[0], HIDDEN]  # a pair of a name and its value, as headers may be given
        return [values_without_secrets(each, "", depth + 1) for each in value]
    return redacted(value) if isinstance(value, str) else value


def _mapping_shown(value: Mapping[Any, Any], depth: int) -> dict[Any, Any]:
    shown = {
        inner: values_without_secrets(each, str(inner), depth) for inner, each in value.items()
    }
    named = value.get("name")
    if isinstance(named, str) and "value" in value and _is_secret(named, value["value"]):
        shown["value"] = HIDDEN
    return shown


def _is_secret(name: str, value: object) -> bool:
    if not is_secret_name(name) or value is None:
        return False
    is_amount = isinstance(value, (int, float)) or (isinstance(value, str) and value.isdigit())
    return not (is_amount and _COUNT.search(name))
