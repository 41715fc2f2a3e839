"""Looking for text, alike in both databases."""

from headgate.core.errors import UsageError

LONGEST = 200
_SPECIAL = str.maketrans({"\\": r"\\", "%": r"\%", "_": r"\_"})


def patterns(text: str | None) -> dict[str, str | None]:
    """What LIKE compares with; None where nothing is looked for, or one pattern says it all.

    Both databases know the case of ASCII letters. Of others they may not, so that these are looked
    for as they were given and in lower, upper and title case.
    """
    names = ("text", "lower", "upper", "title")
    if text is None:
        return dict.fromkeys(names)
    if len(text) > LONGEST:
        raise UsageError(f"a text to look for may have {LONGEST} characters, not {len(text)}")
    plain = text.replace("\0", "")
    if plain.isascii():
        return dict.fromkeys(names) | {"text": _like(plain)}
    cases = (plain, plain.lower(), plain.upper(), plain.title())
    return {name: _like(case) for name, case in zip(names, cases, strict=True)}


def _like(text: str) -> str:
    return f"%{text.translate(_SPECIAL)}%"
