"""The values that resolvers exchange: requests, replies, plans and results."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

import msgspec

MOST_BYTES: Final = 4 * 1024 * 1024
PDF: Final = "application/pdf"


class Version(StrEnum):
    PUBLISHED = "published"
    ACCEPTED = "accepted"
    SUBMITTED = "submitted"
    UNKNOWN = ""


class Plan(msgspec.Struct, frozen=True):
    resolver: str
    url: str
    referer: str = ""
    """The page that links to the file, for hosts that check it."""
    headers: Mapping[str, str] = {}
    types: tuple[str, ...] = (PDF,)
    """Types that are accepted; empty if any."""
    license: str = ""
    """A name or a URL, as the service gives it."""
    version: Version = Version.UNKNOWN
    checksum: str = ""
    """`md5:…` or `sha256:…`, if the service gives it."""
    note: str = ""
    """The place in the reply."""


class ResolverRequest(msgspec.Struct, frozen=True):
    resolver: str
    provider: str
    """The provider whose gate the request passes; empty: only the gates of its host."""
    url: str
    method: str = "GET"
    params: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}
    json: Any = None
    light: bool = True
    """A small look-up: paced, but not counted as a transfer."""
    max_bytes: int = MOST_BYTES
    step: str = ""
    """The resolver's name for this request, if it makes several."""
    found: tuple[Plan, ...] = ()
    """Plans of earlier steps; they stay valid if this step fails."""


class ResolverReply(msgspec.Struct, frozen=True):
    ask: ResolverRequest
    status: int
    text: str = ""
    headers: Mapping[str, str] = {}
    """The headers by name; the names are case-insensitive."""
    url: str = ""
    """The URL after redirects; empty if there were none."""

    @property
    def final_url(self) -> str:
        return self.url or self.ask.url

    @property
    def content_type(self) -> str:
        """The media type, without parameters and in lower case."""
        found = next((v for n, v in self.headers.items() if n.lower() == "content-type"), "")
        return found.partition(";")[0].strip().lower()


class ResolverVerdict(StrEnum):
    FOUND = "found"
    UNKNOWN = "unknown"
    """The service does not know the identifier: a reply, not an error."""
    NO_FILE = "no-file"
    """The service knows the identifier, but no file that may be fetched."""
    NOT_ASKED = "not-asked"
    """The resolver does not handle such an identifier."""
    UNREADABLE = "unreadable"
    """The reply does not have the documented shape."""
    FAULT = "fault"
    """The service failed: see the status. The caller decides about a retry."""


class ResolverResult(msgspec.Struct, frozen=True):
    verdict: ResolverVerdict
    plans: tuple[Plan, ...] = ()
    """The plans, the best first."""
    pages: tuple[str, ...] = ()
    """Pages of the work, on which `landing_page` may find a file."""
    reason: str = ""
    status: int = 0
    """The status of a reply that led to nothing."""


Step = ResolverRequest | ResolverResult
"""A resolver's next request, or its result."""
