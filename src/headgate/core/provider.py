"""What is known beforehand of an outside service: where it is and what it asks of its users."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta

from headgate.core.bounds import Count, Factor, Patience, Seconds
from headgate.core.rate import Limit, parse_limits
from headgate.core.url import BadUrl, host_key

Few = Annotated[int, Meta(ge=0, le=20)]
Status = Annotated[int, Meta(ge=400, le=599)]
Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]
Line = Annotated[str, Meta(max_length=500, pattern=r"^[\x20-\x7e]*$")]
"""Text that may stand in a header: one line of ASCII."""
Method = Annotated[str, Meta(pattern=r"^[A-Z]{1,20}$")]
PathPrefix = Annotated[str, Meta(pattern=r"^/[\x21-\x7e]*$", max_length=500)]


class Placement(StrEnum):
    """Where a credential stands in a request."""

    BEARER = "bearer"
    """`Authorization: Bearer …`."""
    BASIC = "basic"
    """`Authorization: Basic …`; the value is `user:password`."""
    HEADER = "header"
    """A header of its own, by `name`."""
    QUERY = "query"
    """A parameter of the URL, by `name`."""


class CredentialPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a credential is kept, and how it is sent. Its value stands in no settings file."""

    env: str = ""
    """The environment variable that holds it."""
    file: str = ""
    """The file that holds it."""
    placement: Placement = Placement.BEARER
    """Where it stands in a request: `bearer`, `basic`, `header` or `query`."""
    name: Line = ""
    """The header or the parameter, where that is its placement."""
    prefix: Line = ""
    """What a header says before the value, such as `Token `."""
    optional: bool = False
    """Go without it where its value is not there."""

    def __post_init__(self) -> None:
        if bool(self.env) == bool(self.file):
            raise ValueError("a credential needs either `env` or `file`, where its value is kept")
        named = self.placement in {Placement.HEADER, Placement.QUERY}
        if named != bool(self.name):
            raise ValueError("`name` is for a credential in a header or a query, and needed there")


class InlineRetry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How often a request is repeated at once; beyond that the item goes back and waits there."""

    retries: Few = 2
    """Repetitions of one request within an attempt."""
    budget_s: Patience = 10.0
    """No repetition is begun later than this after the first."""
    base_s: Patience = 0.5
    """The longest wait before the first repetition; each is drawn evenly from nothing to this."""
    factor: Factor = 3.0
    """How much longer the wait may be before each further one."""


class CachePolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is kept of a provider's answers."""

    enabled: bool = True
    """Keep answers as their headers allow."""
    default_ttl_s: Patience = 0.0
    """How long an answer that says nothing about its age is fresh."""
    max_bytes: Count = 1_000_000_000
    """A larger answer is not kept."""


class ProviderPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of one provider. Whatever is left out has no ceiling, or is learned."""

    hosts: tuple[str, ...] = ()
    """Its hosts: `api.example.org`, `api.example.org:8443` or `*.example.org`."""
    rate: str = ""
    """The most requests: `5/s`, or several limits at once: `10/s, 100/min`."""
    burst: Count | None = None
    """How many requests may go out at once after a rest."""
    concurrency: Count | None = None
    """The most transfers at a time."""
    concurrency_per_host: Count | None = None
    """The most transfers at a time with one of its hosts."""
    concurrency_per_domain: Count | None = None
    """The most transfers at a time with those of its hosts that share a registrable domain."""
    each_host: bool = False
    """Its hosts share these settings and nothing else: each has limits and gates of its own."""
    budget: Mapping[Name, str] = {}
    """Limits on other things than requests: `{tokens = "90000/min"}`."""
    hard_caps: Mapping[Name, str] = {}
    """The same, but a job pauses when one is spent, until its window turns."""
    credentials: Mapping[Name, CredentialPolicy] = {}
    """Keys and tokens by name; several form a pool."""
    for_users: bool = False
    """Send its credentials also with lookups that users describe in a job's config."""
    user_methods: tuple[Method, ...] = ("GET", "HEAD")
    """With `for_users`: the methods that a user's request may have."""
    user_paths: tuple[PathPrefix, ...] = ()
    """With `for_users`: how the path of a user's request must begin, such as `/v1/search`; empty:
    any path."""
    user_agent: Line = ""
    """How we introduce ourselves."""
    contact: Line = ""
    """Whom the provider may write to: an address or a page."""
    contact_parameter: Line = ""
    """The parameter of the URL in which the provider wants the contact."""
    refusals: tuple[Status, ...] = ()
    """Statuses that ask us to slow down, beside 429 and a 503 with `Retry-After`."""
    patience_s: Patience = 30.0
    """How long a request waits before the gates until its item is sent back to wait there."""
    retry: InlineRetry = InlineRetry()
    """How often a request is repeated at once."""
    cache: CachePolicy = CachePolicy()
    """What is kept of its answers."""
    timeout_s: Seconds = 300.0
    """For one exchange, without the time spent before the gates."""
    robots: bool = False
    """Obey robots.txt: what it does not allow is skipped, and `Crawl-delay` is kept."""

    def __post_init__(self) -> None:
        for host in self.hosts:
            _check_host(host)
        for name, text in {"rate": self.rate, **self.budget, **self.hard_caps}.items():
            _check_limits(name, text)
        if any(not text.strip() for text in (*self.budget.values(), *self.hard_caps.values())):
            raise ValueError("a budget needs a limit, such as 90000/min")
        if self.each_host and (self.hosts or self.concurrency):
            raise ValueError(
                "with `each_host` it stands for hosts that nobody declares, which share no cap:"
                " leave out `hosts` and `concurrency`, or give your provider another name"
            )
        if self.credentials and not self.hosts:
            raise ValueError("credentials need `hosts`: they are sent to the declared hosts alone")

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The limits on requests."""
        return parse_limits(self.rate)

    @property
    def needs_credential(self) -> bool:
        """Whether it has a credential that it cannot do without."""
        return any(not each.optional for each in self.credentials.values())


def kept_from_users(policy: ProviderPolicy, method: str, path: str) -> str:
    """Why a request that a user described goes without a credential; empty if it may have one.

    `path` is normalized, without the query.
    """
    if not policy.for_users:
        return "its credentials are for the operator's own handlers (for_users = false)"
    if method not in policy.user_methods:
        return f"{method} is not among the methods for users ({', '.join(policy.user_methods)})"
    if policy.user_paths and not any(_is_below(path, each) for each in policy.user_paths):
        return f"the path is not among those for users ({', '.join(policy.user_paths)})"
    return ""


def _is_below(path: str, prefix: str) -> bool:
    """Whether a server can take a path for nothing else than one below the prefix."""
    odd = path.upper()
    if "//" in odd or "\\" in odd or any(code in odd for code in ("%2E", "%2F", "%5C", "%25")):
        return False
    return path == prefix or path.startswith(prefix if prefix.endswith("/") else prefix + "/")


def provider_of(host: str, policies: Mapping[str, ProviderPolicy]) -> str:
    """The provider that declares a host (a key of `core.url`), or nothing.

    The host itself comes first, then the longest pattern that fits.
    """
    fits = [
        (not pattern.startswith("*."), len(pattern), name)
        for name, policy in policies.items()
        for pattern in policy.hosts
        if _fits(host, pattern)
    ]
    return max(fits)[2] if fits else ""


def _fits(host: str, pattern: str) -> bool:
    if pattern.startswith("*."):
        return host.endswith("." + host_key(pattern[2:]))
    return host == host_key(pattern)


def _check_host(host: str) -> None:
    try:
        host_key(host.removeprefix("*."))
    except BadUrl as error:
        raise ValueError(f"{host!r} is no host: write api.example.org or *.example.org") from error


def _check_limits(name: str, text: str) -> None:
    try:
        parse_limits(text)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
