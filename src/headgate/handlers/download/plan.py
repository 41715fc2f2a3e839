"""What resolvers say: requests to be sent, replies to be read, and plans to be tried."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

import msgspec

MOST_BYTES: Final = 4 * 1024 * 1024
PDF: Final = "application/pdf"


class Version(StrEnum):
    """Which text of a work a file has."""

    PUBLISHED = "published"
    ACCEPTED = "accepted"
    SUBMITTED = "submitted"
    UNKNOWN = ""


class Plan(msgspec.Struct, frozen=True):
    """One place to try for a file."""

    resolver: str
    url: str
    referer: str = ""
    """The page that it was found on, for hosts that ask for one."""
    headers: Mapping[str, str] = {}
    types: tuple[str, ...] = (PDF,)
    """What may come; empty if anything may."""
    license: str = ""
    """As the service has it: a name or a URL."""
    version: Version = Version.UNKNOWN
    checksum: str = ""
    """`md5:…` or `sha256:…`, where the service tells it."""
    note: str = ""
    """Where in the reply it stood."""


class ResolverRequest(msgspec.Struct, frozen=True):
    """A request that a resolver needs answered."""

    resolver: str
    provider: str
    """Whose gate it passes; empty for the gates of its host alone."""
    url: str
    method: str = "GET"
    params: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}
    json: Any = None
    light: bool = True
    """A small look-up: paced, but no transfer."""
    max_bytes: int = MOST_BYTES
    step: str = ""
    """Which of its questions it is, where a resolver has several."""
    found: tuple[Plan, ...] = ()
    """What earlier steps found; it stays good if this one fails."""


class ResolverReply(msgspec.Struct, frozen=True):
    """What came back for an `ResolverRequest`."""

    ask: ResolverRequest
    status: int
    text: str = ""
    headers: Mapping[str, str] = {}
    """By name, in any case."""
    url: str = ""
    """Where it came from in the end; empty if no redirect led away."""

    @property
    def final_url(self) -> str:
        """Where it came from."""
        return self.url or self.ask.url

    @property
    def content_type(self) -> str:
        """Its media type, without parameters and in lower case."""
        found = next((v for n, v in self.headers.items() if n.lower() == "content-type"), "")
        return found.partition(";")[0].strip().lower()


class ResolverVerdict(StrEnum):
    """How a resolver ended with an identifier."""

    FOUND = "found"
    UNKNOWN = "unknown"
    """The service does not know it: an answer, not an error."""
    NO_FILE = "no-file"
    """The service knows it, and no file that may be fetched."""
    NOT_ASKED = "not-asked"
    """It has no question about such an identifier."""
    UNREADABLE = "unreadable"
    """The reply is not of the shape that the service documents."""
    FAULT = "fault"
    """The service did not answer: see the status. Whether to ask again is not decided here."""


class ResolverResult(msgspec.Struct, frozen=True):
    """What a resolver made of its replies."""

    verdict: ResolverVerdict
    plans: tuple[Plan, ...] = ()
    """Best first."""
    pages: tuple[str, ...] = ()
    """Pages of the work, on which `landing_page` may find a file."""
    reason: str = ""
    status: int = 0
    """Of the reply, where that is why nothing came of it."""


Step = ResolverRequest | ResolverResult
"""A resolver asks on, or has come to an end."""
