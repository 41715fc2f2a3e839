"""Refuses passwords that a stranger would guess soon."""

import re

SHORTEST_PASSWORD = 10
_ROWS = ("1234567890", "qwertyuiop", "qwertzuiop", "azertyuiop", "asdfghjkl", "zxcvbnm", "yxcvbnm")
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_DIGITS = "01234567890123456789"
_COMMON = frozenset(
    {
        "admin",
        "administrator",
        "changeme",
        "changethis",
        "dragon",
        "football",
        "headgate",
        "hello",
        "iloveyou",
        "letmein",
        "login",
        "master",
        "monkey",
        "passphrase",
        "passwd",
        "password",
        "passwort",
        "princess",
        "root",
        "secret",
        "sunshine",
        "superman",
        "test",
        "trustno",
        "user",
        "welcome",
    }
)
"""Words that are not a password, repeated or with any digits and signs around them."""
_LOOKALIKES = str.maketrans("0134578@$!", "oleastbasi")
ADVICE = "use four words that are unrelated"


def weakness_of(password: str, name: str = "") -> str:
    """Why a password is refused, and what to do instead; empty if it is accepted."""
    reason = _reason(password, name)
    return f"the password {reason}: {ADVICE}" if reason else ""


def _reason(password: str, name: str) -> str:
    lower = password.lower()
    bare = "".join(lower.split())
    if len(password) < SHORTEST_PASSWORD:
        return f"has fewer than {SHORTEST_PASSWORD} characters"
    if len(bare) < SHORTEST_PASSWORD // 2:
        return "is nearly all spaces"
    if len(set(bare)) <= 2:
        return "repeats one or two characters"
    unit = _unit(bare)
    if _is_in_order(unit):
        return "is a plain sequence of characters"
    if len(unit) < len(bare) and len(unit) <= 3:
        return "repeats a few characters"
    return _word_reason(lower, unit, name)


def _word_reason(lower: str, unit: str, name: str) -> str:
    own = _letters(name)
    inner = re.sub(r"^[^a-z]+|[^a-z]+$", "", lower)
    words = {_letters(each) for each in (lower, unit, inner.translate(_LOOKALIKES))}
    words |= {_unit(word) for word in words}
    if lower == name.lower() or (own and own in words):
        return "is the name of the user"
    return "is one of the most common ones" if words & _COMMON else ""


def _letters(text: str) -> str:
    return re.sub(r"[^a-z]", "", text.lower())


def _unit(text: str) -> str:
    """The piece that a text repeats: `abc` of `abcabc`; else the whole text."""
    end = (text + text).find(text, 1)
    return text[:end] if 0 < end < len(text) else text


def _is_in_order(text: str) -> bool:
    runs = (*_ROWS, _ALPHABET, _DIGITS)
    return len(text) > 2 and any(text in run or text[::-1] in run for run in runs)
