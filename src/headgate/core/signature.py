"""The kind of a failure, from its reason, independent of the item."""

import re

from headgate.core.pattern import pattern

SIGNATURE_LIMIT = 200
VARIANT_LIMIT = 400
MOST_VARIANTS = 10
"""Failures that differ only in their quotations are separate kinds while there are at most this
many different quotations. Beyond that they are one group: the quotations are data, not kinds."""
_READ = 1_000
"""Characters of a reason that are read: more than a signature can hold."""
_KEPT = 80
"""The longest quotation, in characters, that can distinguish failures."""

_URL = pattern(r"\b[a-z][a-z0-9+.-]{1,15}://[^\s'\"<>]+", re.IGNORECASE)
_QUOTED = pattern(
    r'("[^"\n]{1,300}"|(?<!\w)\'[^\'\n]{1,300}\'(?!\w)|`[^`\n]{1,300}`)',
)
# The order matters: an address contains numbers.
_PARTICULARS = (
    (pattern(r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"), "<address>"),
    (pattern(r"(?<![\w<])(?:~|\.{1,2}|[A-Za-z]:)?(?:[/\\][\w.@%+~-]+){2,}/?"), "<path>"),
    (pattern(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE), "<id>"),
    (pattern(r"\b(?=[a-z_-]*\d)(?:0x)?[0-9a-f]{8,}\b", re.IGNORECASE), "<id>"),
    (pattern(r"\b(?=[\w-]*\d[\w-]*\d)(?=[\w-]*[a-z])[\w-]{6,}\b", re.IGNORECASE), "<id>"),
    (pattern(r"[-+]?\d+(?:[.,:]\d+)*"), "<n>"),
)
_SPACE = pattern(r"\s+")

# Numbers that name a kind of failure: HTTP statuses, error codes, exit codes and signals.
_JOINED = r"[\"'`]?[\s:=#(\[]{1,3}"
_UNIT = (
    r"(?!\s?(?:m?s|[kmg]?b|%|(?:second|minute|hour|day|row|line|item|result|record|value|column"
    r"|byte|character|time|candidate|page|file|attempt|request)s?|tr(?:y|ies))\b)"
)
_CODES = (
    pattern(
        r"(?:\bHTTP(?:/\d(?:\.\d)?)?|status|\berrno|\bsignal"
        r"|(?:status|error|exit|return|response|fault|err)[ _-]?code|(?<!\w )(?<![\w-])code)"
        rf"{_JOINED}(?P<code>\d{{1,5}})\b",
        re.IGNORECASE,
    ),
    pattern(
        r"\b(?:answer(?:s|ed)?|return(?:s|ed)?|repl(?:y|ies|ied)|response|responds|responded"
        r"|got|error|with)"
        rf"{_JOINED}(?:an? )?(?P<code>[1-5]\d\d)\b(?![.,:]\d){_UNIT}",
        re.IGNORECASE,
    ),
    pattern(
        r"(?<![\w.,:-])(?P<code>[1-5]\d\d)(?= (?:Bad Request|Unauthori[sz]ed|Payment Required"
        r"|Forbidden|Not Found|Method Not Allowed|Not Acceptable|Request Time-?out|Conflict|Gone"
        r"|Precondition|Payload Too|Content Too|Request Entity|Unsupported Media|Unprocessable"
        r"|Locked|Too Many|Internal Server|Not Implemented|Bad Gateway|Service Unavail"
        r"|Gateway Time-?out|Client Error|Server Error|Moved|See Other|Temporary Redirect)\b)",
        re.IGNORECASE,
    ),
    pattern(r"(?:^|[(\[]|[:,;=] )(?P<code>[1-5]\d\d)(?=$|[)\]]|[:,;.](?:\s|$)| - )"),
)
_HIDE = {ord(str(digit)): 0xE000 + digit for digit in range(10)}
_SHOW = {0xE000 + digit: str(digit) for digit in range(10)}
"""Digits to keep, moved to the private area of Unicode while others are masked."""


def signature_of(error_class: str, reason: str | None) -> str:
    """The same name for all failures that differ only in numbers, ids, quotations and paths.

    A number that is a status or a code stays: 401 and 403 are two kinds of failure.
    """
    return kind_of(error_class, reason)[0]


def kind_of(error_class: str, reason: str | None) -> tuple[str, str | None]:
    """The signature of a failure; and its variant, which still has the quotations."""
    return parts_of(_variant(error_class, reason))


def parts_of(name: str) -> tuple[str, str | None]:
    """The signature and the variant in the name of a group of failures; None: any variant."""
    signature = _QUOTED.sub("<value>", name)[:SIGNATURE_LIMIT].rstrip()
    return signature, None if name == signature else name


def _variant(error_class: str, reason: str | None) -> str:
    text = _URL.sub("<url>", (reason or "")[:_READ])
    for code in _CODES:
        text = code.sub(_code_kept, text)
    parts = _QUOTED.split(text)
    parts[::2] = [_without_particulars(each) for each in parts[::2]]
    parts[1::2] = [each if len(each) <= _KEPT else "<value>" for each in parts[1::2]]
    words = _SPACE.sub(" ", "".join(parts)).strip().translate(_SHOW)
    name = f"{error_class}: {words}" if words else error_class
    # A quotation that is cut has no end, and would not be recognised as one.
    return name if len(name) <= VARIANT_LIMIT else _QUOTED.sub("<value>", name)[:SIGNATURE_LIMIT]


def _without_particulars(text: str) -> str:
    for particular, name in _PARTICULARS:
        text = particular.sub(name, text)
    return text


def _code_kept(found: re.Match[str]) -> str:
    start = found.start("code") - found.start()
    end = found.end("code") - found.start()
    whole = found[0]
    return f"{whole[:start]}{whole[start:end].translate(_HIDE)}{whole[end:]}"
