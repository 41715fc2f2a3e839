"""Encode text piece by piece."""

import codecs

from headgate.core.errors import UsageError
from headgate.transfer.lines import known_name


class Encoder:
    """Encodes pieces of one text; characters unknown to the encoding become question marks."""

    def __init__(self, name: str = "utf-8") -> None:
        known = known_name(name)
        if known is None:
            raise UsageError(f"{name[:100]!r} is not the name of a text encoding")
        self._name = known
        # A byte order mark belongs only before the first piece.
        self._encoder = codecs.getincrementalencoder(name)()
        self._replaced = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """The number of replaced characters, in words."""
        if not self._replaced:
            return ()
        characters = "character is" if self._replaced == 1 else "characters are"
        note = (
            f"{self._replaced:,} {characters} not known to {self._name} and written as `?`;"
            " utf-8-sig can write all of them"
        )
        return (note,)

    def __call__(self, text: str) -> bytes:
        try:
            return self._encoder.encode(text)
        except UnicodeEncodeError:
            return self._encoder.encode("".join(map(self._known, text)))

    def _known(self, character: str) -> str:
        try:
            character.encode(self._name)
        except UnicodeEncodeError:
            self._replaced += 1
            return "?"
        return character
