"""The text of a file, which may be packed."""

from pathlib import Path
from typing import BinaryIO

from headgate.transfer.places.local import name_of_content, open_file
from headgate.transfer.places.packed import is_packed, unpacked


def open_content(path: Path, most_bytes: int) -> BinaryIO:
    """The text, or BadSource in the user's words; `most_bytes` bounds what is unpacked."""
    file = open_file(path)
    return unpacked(file, path, most_bytes) if is_packed(path) else file


def content_fingerprint(path: Path, most_bytes: int) -> str:
    """A name for the text of a file: packing it does not change it."""
    with open_content(path, most_bytes) as file:
        return name_of_content(file)
