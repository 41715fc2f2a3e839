"""What is remembered with an answer whose body lies in the folder."""

import msgspec

MOST_INPUTS = 20
"""Of more inputs that led to the same answer, the first are remembered."""


class Note(msgspec.Struct, frozen=True):
    """Where the body is, what it is, and for whom it was fetched."""

    path: str
    """Relative to the folder."""
    sha256: str
    bytes: int
    content_type: str
    inputs: tuple[str, ...] = ()
    """What was asked for: only for these it is the same file as before."""

    def encoded(self) -> str:
        """As the cache keeps it."""
        return msgspec.json.encode(self).decode()

    def known_to(self, key: str) -> "Note | None":
        """The note with one more input; None if it has it already, or has no room."""
        if key in self.inputs or len(self.inputs) >= MOST_INPUTS:
            return None
        return msgspec.structs.replace(self, inputs=(*self.inputs, key))


def read_note(text: str) -> Note | None:
    """What is noted; None if it cannot be read."""
    try:
        return msgspec.json.decode(text, type=Note)
    except msgspec.DecodeError:
        return None
