"""Decides which names are names of secrets.

One list is used everywhere: for configs, URLs, error texts, histories, events and logs.
"""

import re
from enum import Enum
from typing import Final
from urllib.parse import unquote_plus

from headgate.core.pattern import pattern

HIDDEN: Final = "***"
_CAMEL: Final = pattern(r"(?<=[a-z0-9])(?=[A-Z])")
_HINTS: Final = pattern(
    r"pass(word|wd|phrase|code)|pwd|secret|token|signature|credential|bearer|cookie"
    r"|auth(?!or(?!i[sz]))"  # but not `author`
    r"|(api|access|private)[_-]?key"
)
_NAMES: Final = frozenset({"key", "session", "sessionid"})
_SHORT_NAME: Final = pattern(r"(?:^|[_.\- ])(?:pass|pw|pin|pat|creds?|sig|sas|jwt|otp)\d{0,3}$")
"""Short words that are a secret's name, or the last word of one: `db_pass`, `creds`."""
_SIGNED: Final = ("x-amz-", "x-goog-", "x-ms-")
"""Prefixes of the parameters of a presigned URL; together they give access."""
_KEY: Final = pattern(r"(?:^|[_.\- ])([a-z0-9]+)[_.\- ]key$")
_PLAIN_KEY: Final = pattern(
    r"business|cache|candidate|column|composite|compound|dedup|dict|duplicate|event|field|foreign"
    r"|gate|group|idempotency|index|item|job|join|json|lookup|map|message|metric|missing|natural"
    r"|object|order|parent|partition|primary|property|public|record|result|routing|row|shard|sort"
    r"|source|state|surrogate|tag|topic|unique"
)
"""Words before `key` that make it something else than a secret."""
_COUNT: Final = pattern(r"tokens", re.IGNORECASE)
"""Numbers under such a name are amounts: `max_tokens`."""

_CLEAR_IN_TEXT: Final = pattern(
    r"(?:passw(?:or)?d|passphrase|passcode|pwd|secret|token|signature|credential|authorization"
    r"|bearer|(?:api|access|private|secret)[_.\- ]?key|(?:^|[_.\- ])(?:pw|cred))"
    r"s?\d{0,3}(?:[_-]\w{1,30})?$"
)
_WORD_IN_TEXT: Final = pattern(r"(?:^|[_.\- ])(?:auth|cookie|session(?:id)?)$")
SPACED_KEY: Final = (
    r"(?:api|access|account|auth|encryption|license|master|private|secret|shared|signing"
    r"|subscription) key"
)
"""Names of two words; other words before `key` are too often part of a sentence."""
_SPACED_KEY: Final = pattern(SPACED_KEY)


def is_secret_name(name: str) -> bool:
    name = _CAMEL.sub("_", unquote_plus(name)).strip().lower()
    if name in _NAMES or name.startswith(_SIGNED) or _HINTS.search(name) is not None:
        return True
    return _SHORT_NAME.search(name) is not None or _is_key(name)


def is_secret(name: str, value: object) -> bool:
    if not is_secret_name(name) or value is None:
        return False
    is_amount = isinstance(value, (int, float)) or (isinstance(value, str) and value.isdigit())
    return not (is_amount and is_count(name))


class InText(Enum):
    """How surely a name in free text is the name of a secret."""

    CLEAR = "clear"
    KEY = "key"
    """Unless its value is a number: then it is the key of a row."""
    SHORT = "short"
    """A short word that is also a name or a noun: `Pat: hello`."""
    WORD = "word"
    """An ordinary word, as in `session: 3`."""
    NONE = "none"


def in_text(name: str) -> InText:
    """How surely a name in free text is the name of a secret. Text may have a plain `key=42`."""
    name = _CAMEL.sub("_", name[-80:]).strip("-_. ").lower()
    if _CLEAR_IN_TEXT.search(name) is not None:
        return InText.CLEAR
    if _is_key(name):
        spoken = " " in name and _SPACED_KEY.fullmatch(name) is None
        return InText.NONE if spoken else InText.KEY
    if _SHORT_NAME.search(name) is not None:
        return InText.SHORT
    return InText.WORD if _WORD_IN_TEXT.search(name) is not None else InText.NONE


def is_count(name: str) -> bool:
    return _COUNT.search(name) is not None


def parameter_shown(found: re.Match[str]) -> str:
    """A parameter of a URL with its secret hidden; its name and value are the first two groups."""
    name, value = found[1], found[2]
    return f"{name}={HIDDEN}" if is_secret(name, value) else found[0]


def _is_key(name: str) -> bool:
    key = _KEY.search(name)
    return key is not None and _PLAIN_KEY.fullmatch(key[1]) is None
