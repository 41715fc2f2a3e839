"""Which names are names of an encoding of text."""

import codecs

NOT_FOR_FILES = frozenset({"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape"})
"""Python counts these among the encodings of text. They are for host names and source code, and
fail in ways of their own."""


def known_name(name: str) -> str | None:
    """The one spelling of an encoding of text; None if that is not the name of one."""
    try:
        known = codecs.lookup(name).name
        "".encode(name)  # codecs such as bz2 and hex are not for text, and fail here
    except (LookupError, ValueError, TypeError):
        return None
    return None if known.replace("_", "-") in NOT_FOR_FILES else known
