"""Short hashes of keys, by which pages recognise the rows of other pages."""

import base64
from collections.abc import Iterable, Iterator
from hashlib import blake2b

BYTES = 6
"""Two of a million keys are the same by chance in one of 500 passes, which then is unproven."""
LETTERS = 8


def hashes_of(keys: Iterable[str]) -> str:
    """The hashes of keys as one text, 8 letters each."""
    digests = (blake2b(key.encode(errors="replace"), digest_size=BYTES).digest() for key in keys)
    return base64.b64encode(b"".join(digests)).decode()


def each_hash(text: str) -> Iterator[str]:
    return (text[place : place + LETTERS] for place in range(0, len(text), LETTERS))
