"""Regular expressions that are compiled when they are first used."""

import re
from typing import Any, cast


class _Uncompiled:
    """Takes over the methods of a pattern when one of them is first used."""

    def __init__(self, text: str, flags: re.RegexFlag) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self._text, self._flags)
        for method in ("fullmatch", "match", "search", "split", "sub"):
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def pattern(text: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """A pattern for a module that every process loads, though few of them use it.

    Compiling the patterns for secrets and failures would add 5 ms to the start of each process.
    """
    return cast("re.Pattern[str]", _Uncompiled(text, flags))
