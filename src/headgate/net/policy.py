"""Settings of the HTTP client that apply to every provider."""

from typing import Annotated

import msgspec
from msgspec import Meta

from headgate.core.bounds import Count, Seconds
from headgate.core.provider import Few, Line


class NetPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of the HTTP client."""

    allow_private: bool = False
    """Let URLs that come from data lead to private, local and other special addresses."""
    guard_all: bool = False
    """Check the addresses of every handler's URLs; `headgate serve` always does."""
    user_agent: Line = ""
    """The User-Agent header, unless the provider's settings name another."""
    contact: Line = ""
    """An address or a page for questions from providers; part of the User-Agent header."""
    body_bytes: Count = 64 * 1024 * 1024
    """Most bytes of a response in memory; a larger one must be streamed."""
    cache: bool = True
    """Keep responses as their headers and the provider's settings allow."""
    cache_folder: str = ""
    """Folder of the cache; unset: `.headgate-cache` beside the SQLite file, or where we run."""
    cache_bytes: Annotated[int, Meta(ge=1, le=10**15)] = 10_000_000_000
    """Most bytes in the cache; the least recently used responses are removed first."""
    redirects: Few = 10
    """Most redirects to follow."""
    connect_s: Seconds = 10.0
    """Most seconds to wait for a connection."""
    read_s: Seconds = 30.0
    """Most seconds that a server may be silent within a response."""
