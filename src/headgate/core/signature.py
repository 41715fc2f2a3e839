"""What kind of failure a reason tells of, whatever item it happened to."""

import re

SIGNATURE_LIMIT = 200
_READ = 1_000
"""How much of a reason is looked at: more than a signature can hold."""

# The order counts: an address has numbers in it, and a quotation may have an address.
_PARTICULARS = (
    (re.compile(r"\b[a-z][a-z0-9+.-]{1,15}://[^\s'\"<>]+", re.IGNORECASE), "<url>"),
    (re.compile(r'"[^"\n]{1,300}"|(?<!\w)\'[^\'\n]{1,300}\'(?!\w)|`[^`\n]{1,300}`'), "<value>"),
    (re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"), "<address>"),
    (re.compile(r"(?<![\w<])(?:~|\.{1,2}|[A-Za-z]:)?(?:[/\\][\w.@%+~-]+){2,}/?"), "<path>"),
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE), "<id>"),
    (re.compile(r"\b(?=[a-z_-]*\d)(?:0x)?[0-9a-f]{8,}\b", re.IGNORECASE), "<id>"),
    (re.compile(r"\b(?=[\w-]*\d[\w-]*\d)(?=[\w-]*[a-z])[\w-]{6,}\b", re.IGNORECASE), "<id>"),
    (re.compile(r"[-+]?\d+(?:[.,:]\d+)*"), "<n>"),
)
_SPACE = re.compile(r"\s+")


def signature_of(error_class: str, reason: str | None) -> str:
    """One name for all failures that say the same but for numbers, ids, quotations and places."""
    text = (reason or "")[:_READ]
    for particular, name in _PARTICULARS:
        text = particular.sub(name, text)
    words = _SPACE.sub(" ", text).strip()
    return f"{error_class}: {words}"[:SIGNATURE_LIMIT].rstrip() if words else error_class
