"""Passwords and tokens: created here, shown once, stored only as digests."""

import hashlib
import hmac
import os
import secrets
from base64 import b64decode, b64encode
from binascii import Error as NotBase64

import msgspec

PREFIX = "hg_"
"""Marks a token as one of Headgate's wherever it appears."""
_COST, _BLOCK, _LANES = 2**15, 8, 1
_MEMORY = 64 * 1024 * 1024


class Minted(msgspec.Struct, frozen=True):
    id: str
    secret: str
    digest: str


def new_token() -> Minted:
    """A random token of 256 bits."""
    secret = PREFIX + secrets.token_urlsafe(32)
    return Minted(secrets.token_hex(6), secret, token_digest(secret))


def token_digest(secret: str) -> str:
    """The digest to store for a token. One round is enough: 256 random bits cannot be guessed."""
    return hashlib.sha256(secret.encode()).hexdigest()


def csrf_token(secret: str) -> str:
    """CSRF token of a session: a page sends it beside its cookie."""
    return hmac.new(secret.encode(), b"csrf", hashlib.sha256).hexdigest()


def hash_password(password: str) -> str:
    """The text to store for a password; slow and memory-hard on purpose."""
    salt = os.urandom(16)
    made = _scrypt(password, salt)
    return f"scrypt${_COST}${_BLOCK}${_LANES}${b64encode(salt).decode()}${b64encode(made).decode()}"


def password_matches(password: str, kept: str | None) -> bool:
    """True if the password matches; takes the same time without a stored one."""
    salt, made = _parts(kept) if kept else (b"no such user", b"")
    return hmac.compare_digest(_scrypt(password, salt), made)


def _parts(kept: str) -> tuple[bytes, bytes]:
    try:
        _, _, _, _, salt, made = kept.split("$")
        return b64decode(salt), b64decode(made)
    except (ValueError, NotBase64):
        return b"damaged", b""


def _scrypt(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(
        password.encode(), salt=salt, n=_COST, r=_BLOCK, p=_LANES, maxmem=_MEMORY, dklen=32
    )
