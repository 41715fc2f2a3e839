"""Secrets in free text, such as messages of errors, traces and logs; and names of secrets anywhere.

One list of names is used everywhere: for configs, URLs, error texts, histories, events and logs.

Each pattern for text takes time in proportion to the length of the text: it begins only where a
word begins, and never reads the same part again from another start.
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


def redacted_parameter(found: re.Match[str]) -> str:
    """A parameter of a URL with its secret hidden; its name and value are the first two groups."""
    name, value = found[1], found[2]
    return f"{name}={HIDDEN}" if is_secret(name, value) else found[0]


def _is_key(name: str) -> bool:
    key = _KEY.search(name)
    return key is not None and _PLAIN_KEY.fullmatch(key[1]) is None


_ANY: Final = (
    *("pass", "pwd", "secret", "token", "key", "auth", "bearer", "basic", "cookie", "cred"),
    *("signature", "jwt", "session", "://", "eyj", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    *("github_pat", "sk-", "sk_", "rk_", "xox", "xapp-", "glpat", "akia", "aiza", "hg_", "hf_"),
    *("npm_", "sg.", "curl"),
)
_WORDS: Final = ("pw", "pin", "pat", "sig", "sas", "otp")
_ANY_WORD: Final = pattern(rf"(?<![a-z])(?:{'|'.join(_WORDS)})\d{{0,3}}(?![a-z])")
"""Text without any of these contains no secret that we could recognise; most text is decided
here."""
_PEM: Final = pattern(
    r"-{4,5} ?BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)? ?-{4,5}.*?"
    r"(?:-{4,5} ?END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)? ?-{4,5}|\Z)",
    re.DOTALL,
)
_URL_PASSWORD: Final = pattern(r"(://[^/\s:@]*:)(?!\d{1,5}(?:[/?#\s]|$))[^\s\"'<>`]{1,300}@")
_URL_TOKEN: Final = pattern(r"(?i)(\bhttps?://)[^/\s:@\"'<>`?#]{1,300}@")
_URL_PARAMETER: Final = pattern(
    r"(?<=[?&])(?!key=\d{1,9}(?![\w.%~+/=-]))([\w.%~-]{1,80})=([^&#\s\"'<>`\\]+)"
)
_COOKIES: Final = pattern(r"(?i)(\bcookies?['\"]?\s*[:=]\s*['\"]?)(?=\w+=)[^\n'\"]+")
_NAME: Final = pattern(
    rf"""(?ix)
    (?<![\w.-])
    (?P<name>{SPACED_KEY.replace(" ", "[ ]")}(?![\w.-])|[\w.-]++)
    (?P<join>
        \\{{0,8}}["']\s*+,\s*+(?:\\{{0,8}}["']value\\{{0,8}}["']\s*+:\s*+)?(?=b?\\{{0,8}}["'])
      | (?P<closed>\\{{0,8}}["']\]?|\])?\s*+(?P<sign>[=:]{{1,2}}>?)\s*+
    )
    """
)
"""A name and the text between it and its value: `name=`, `"name": `, `('name', `."""
_OPTION: Final = pattern(r"(?<![\w-])(?P<name>--[a-zA-Z][\w-]*+)(?P<join>[ \t]++)(?=[^\s-])")
_OTHER_OPTION: Final = pattern(r"[_-](?:command|dir|env|fd|file|name|path|prompt|stdin|type|url)$")
"""An option that ends in one of these says where a secret is."""
_CURL_USER: Final = pattern(
    r"""(?x)
    (?<![\w-])
    (?P<shown>
        (?:-[a-zA-Z]{0,8}[uU]|--(?:proxy-)?user)
        (?:=|\\{0,8}["']\s*+,\s*+|[ \t]*+)
        (?P<quote>\\{0,8}["'])?
        [^\s:"'\\/=]{1,100}+:
    )
    (?!//)
    (?(quote)(?:(?!(?P=quote))[^\n])++|[^\s"'`\\]++)
    """
)
"""`curl -u NAME:PASSWORD` in any of its spellings, as a command or as a list of words."""
_SCHEMES: Final = (
    "bearer|basic|digest|token|apikey|key|oauth|negotiate|ntlm|hawk|aws4-hmac-sha256|sharedkey"
)
_AUTHORIZATION: Final = pattern(r"(?i)authorization$")
_VALUE: Final = pattern(
    rf"""(?ix)
    (?P<kept>(?:(?:{_SCHEMES})\s+)?)
    (?:
        (?P<open>b?(?P<slashes>\\{{0,8}})(?P<quote>["']))
        (?P<quoted>(?:
            [^\\"'\n] | (?!(?P=quote))["'] | (?P=slashes)\\++["'] | \\++(?!["'\\])
        )*+)
        (?P<shut>(?:(?P=slashes)(?P=quote))?)
      | (?P<bare>[^\s"'`,;&)\]}}<>]+)
    )
    """
)
_DIRECTIVE: Final = r"""[\w-]++=(?:"[^"\n]*+"|[^\s"'`,;&)\]}<>]++)"""
_CREDENTIALS: Final = pattern(
    rf"""(?ix)
    (?P<kept>(?:(?:{_SCHEMES})\s+)?)
    (?P<bare>
        {_DIRECTIVE}(?:,\s*+{_DIRECTIVE})*+
      | [^\s"'`,;&)\]}}<>]+
    )
    (?P<second>(?:[ ](?=[^\s"'`,;&)\]}}<>=]++(?:["'`\n\r]|$))[^\s"'`,;&)\]}}<>=]++)?)
    """
)
"""The text after `Authorization:`, with its directives: `Digest username="me", response="…"`. A
second word at the end of the line belongs to it."""
_ELEMENT: Final = pattern(r"<(?:[\w.-]{1,40}:)?([\w.-]{1,80})(?:\s[^<>]{0,200})?>([^<>]+)(?=</)")
_SCHEME: Final = pattern(r"(?i)\b((?:bearer|basic)\s+)(?=[\w.~+/=-]*\d)[\w.~+/=-]{12,}")
_SHAPES: Final = pattern(
    # Everything that begins like a JWT: to search for its dots from each start takes quadratic
    # time.
    r"\beyJ[\w-]{8,}(?:\.{1,2}[\w-]+){0,4}|\bAKIA[0-9A-Z]{16}\b|\bsk-[\w-]{16,}"
    r"|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{10,}|\bxox[abeoprs]-[\w-]{10,}|\bxapp-[\w-]{10,}"
    r"|\bglpat-[\w-]{10,}|\bAIza[\w-]{30,}|\bhg_[\w-]{20,}|\b[sr]k_(?:live|test)_\w{10,}"
    r"|\bhf_[A-Za-z0-9]{16,}|\bnpm_[A-Za-z0-9]{16,}|\bSG\.[\w-]{16,}(?:\.[\w-]+)?"
)
_PROSE: Final = pattern(
    r"a|after|all|an|and|are|as|at|be|been|before|but|by|can|cannot|could|did|does|expected|expired"
    r"|false|field|for|from|given|had|has|have|if|in|input|instead|into|invalid|is|it|its|may"
    r"|missing|must|no|none|not|null|of|on|one|only|option|or|required|should|string|such|that|the"
    r"|this|to|too|true|twice|unknown|value|was|were|when|which|will|with|without|wrong"
)
"""Words that follow a colon in a sentence: `password: should have at most 1000 characters`."""


def redacted(text: str) -> str:
    """The text without what looks like a secret: passwords of URLs, `token=…` and similar.

    Sentences that only mention secrets stay as they are.
    """
    lowered = text.lower()
    for hint in _ANY:  # several times as fast as one pattern for all
        if hint in lowered:
            break
    else:
        if not any(map(lowered.__contains__, _WORDS)) or _ANY_WORD.search(lowered) is None:
            return text
    if "://" in text:
        text = _URL_PASSWORD.sub(rf"\1{HIDDEN}@", text)
        text = _URL_TOKEN.sub(rf"\1{HIDDEN}@", text)
    text = _URL_PARAMETER.sub(redacted_parameter, text)
    if "curl" in lowered:
        text = _CURL_USER.sub(rf"\g<shown>{HIDDEN}", text)
    text = _PEM.sub(HIDDEN, text)
    text = _COOKIES.sub(rf"\1{HIDDEN}", text)
    text = _ELEMENT.sub(_redacted_element, text)
    text = _values_hidden(text, _OPTION)
    text = _values_hidden(text, _NAME)
    return _SHAPES.sub(HIDDEN, _SCHEME.sub(rf"\1{HIDDEN}", text))


def _values_hidden(text: str, names: re.Pattern[str]) -> str:
    shown: list[str] = []
    copied = at = 0
    while (named := names.search(text, at)) is not None:
        at = named.end()
        kind = in_text(named["name"])
        if kind is InText.NONE or (names is _OPTION and _OTHER_OPTION.search(named["name"])):
            continue
        value = _value_after(named)
        if value is None:
            continue
        at = value.end()
        if _hides(kind, named, value):
            shown += (text[copied : named.end()], _hidden_value(value))
            copied = at
    return "".join((*shown, text[copied:])) if shown else text


def _value_after(named: re.Match[str]) -> re.Match[str] | None:
    text, at = named.string, named.end()
    is_quoted = text[at : at + 1] in {"'", '"', "\\"}
    if _AUTHORIZATION.search(named["name"]) and not is_quoted:
        return _CREDENTIALS.match(text, at)
    return _VALUE.match(text, at)


def _hides(kind: InText, named: re.Match[str], value: re.Match[str]) -> bool:
    between, found = named.groupdict(), value.groupdict()
    quoted = found.get("open") is not None
    inner = found["quoted"] if quoted else found["bare"]
    is_option = "sign" not in between  # the pattern of options has no such group
    sign = between.get("sign") or ""
    is_listed = not sign and not is_option
    is_prose = ":" in sign and not between["closed"]
    if (is_listed or is_prose) and not _is_sure(kind, inner, listed=is_listed):
        return False
    if inner.isdigit() and (kind is InText.KEY or (is_option and len(inner) < 4)):
        return False  # the key of a row, or an amount
    return _looks_secret(named["name"], inner, quoted=quoted, colon=is_option or ":" in sign)


def _is_sure(kind: InText, value: str, *, listed: bool) -> bool:
    """Whether a name means a secret in a sentence, or in a list that may be one of names."""
    if kind is InText.CLEAR or (kind is InText.KEY and not listed):
        return True
    return kind is not InText.WORD and any(map(str.isdigit, value))


def _hidden_value(value: re.Match[str]) -> str:
    found = value.groupdict()
    return f"{found['kept']}{found.get('open') or ''}{HIDDEN}{found.get('shut') or ''}"


def _redacted_element(found: re.Match[str]) -> str:
    name, inner = found[1], found[2]
    kind = in_text(name)
    if kind is InText.NONE or (kind is InText.KEY and inner.isdigit()):
        return found[0]
    if not _looks_secret(name, inner, quoted=True, colon=False):
        return found[0]
    return f"{found[0][: -len(inner)]}{HIDDEN}"


def _looks_secret(name: str, value: str, *, quoted: bool, colon: bool) -> bool:
    """Whether the second half of a pair is a secret, and not a word or a placeholder for one."""
    if not any(map(str.isalnum, value)) or HIDDEN in value or "…" in value:
        return False
    if value[0] in "$<{[" or (value.isupper() and value.replace("_", "").isalpha()):
        return False  # a placeholder: $TOKEN, <token>, TOKEN
    if is_count(name) and (value[0].isdigit() or (colon and not quoted)):
        return False  # an amount such as 1,200 or 5000/min, or a sentence about tokens
    return quoted or not colon or _PROSE.fullmatch(value.rstrip(".:!?").lower()) is None
