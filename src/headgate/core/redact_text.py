"""Secrets in free text: messages of errors, traces and logs.

Each pattern takes time in proportion to the length of the text: it begins only where a word begins,
and never reads the same part again from another start.
"""

import re
from typing import Final

from headgate.core.pattern import pattern
from headgate.core.secret_names import (
    HIDDEN,
    SPACED_KEY,
    InText,
    in_text,
    is_count,
    parameter_shown,
)

_ANY: Final = (
    *("pass", "pwd", "secret", "token", "key", "auth", "bearer", "basic", "cookie", "cred"),
    *("signature", "jwt", "session", "://", "eyj", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    *("github_pat", "sk-", "sk_", "rk_", "xox", "xapp-", "glpat", "akia", "aiza", "hg_", "hf_"),
    *("npm_", "sg."),
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
    text = _URL_PARAMETER.sub(parameter_shown, text)
    text = _PEM.sub(HIDDEN, text)
    text = _COOKIES.sub(rf"\1{HIDDEN}", text)
    text = _ELEMENT.sub(_element_shown, text)
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


def _element_shown(found: re.Match[str]) -> str:
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
