"""What holds for every request, whoever the provider is."""

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
    """Take the URLs of every handler for such; `headgate serve` does, whatever is set here."""
    user_agent: Line = ""
    """How we introduce ourselves, unless the provider's settings say otherwise."""
    contact: Line = ""
    """Whom a provider may write to: an address or a page; part of how we introduce ourselves."""
    body_bytes: Count = 64 * 1024 * 1024
    """A larger answer must be streamed: it is not taken into memory."""
    cache: bool = True
    """Keep answers as their headers and the provider's settings allow."""
    cache_folder: str = ""
    """Where they are kept; unset: `.headgate-cache` beside the SQLite file, or where we run."""
    cache_bytes: Annotated[int, Meta(ge=1, le=10**15)] = 10_000_000_000
    """How much is kept; what was not used for longest goes first."""
    redirects: Few = 10
    """How many redirects are followed."""
    connect_s: Seconds = 10.0
    """How long a connection may take."""
    read_s: Seconds = 30.0
    """How long a server may be silent in the middle of an answer."""
