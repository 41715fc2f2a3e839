"""Outside services: the settings of one, and those whose published limits are known beforehand."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from headgate.core.bounds import Count, Factor, Patience, Seconds
from headgate.core.login import LoginPolicy, UserPassword
from headgate.core.rate import Limit, parse_limits
from headgate.core.url import BadUrl, host_key

Few = Annotated[int, Meta(ge=0, le=20)]
Status = Annotated[int, Meta(ge=400, le=599)]
Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]
Line = Annotated[str, Meta(max_length=500, pattern=r"^[\x20-\x7e]*$")]
"""Text that may be sent in a header: one line of ASCII."""
Method = Annotated[str, Meta(pattern=r"^[A-Z]{1,20}$")]
PathPrefix = Annotated[str, Meta(pattern=r"^/[\x21-\x7e]*$", max_length=500)]


class Placement(StrEnum):
    BEARER = "bearer"
    """`Authorization: Bearer …`."""
    BASIC = "basic"
    """`Authorization: Basic …`; the value is `user:password`."""
    HEADER = "header"
    """A header of its own, by `name`."""
    QUERY = "query"
    """A parameter of the URL, by `name`."""


class CredentialPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a credential's value is, and how it is sent. No settings file contains the value."""

    env: str = ""
    """The environment variable that holds the value."""
    file: str = ""
    """The file that holds the value."""
    login: LoginPolicy | None = None
    """The request whose reply holds the value, a token that is renewed before it ends."""
    user: UserPassword | None = None
    """A user and a password, sent as `Authorization: Basic …`."""
    placement: Placement = Placement.BEARER
    """Place in a request: `bearer`, `basic`, `header` or `query`."""
    name: Line = ""
    """Name of the header or the parameter, for these placements."""
    prefix: Line = ""
    """Text in the header before the value, such as `Token `."""
    optional: bool = False
    """Send requests without the credential if its value is missing."""

    def __post_init__(self) -> None:
        if sum(map(bool, (self.env, self.file, self.login, self.user))) != 1:
            raise ValueError(
                "a credential needs either `env` or `file`, where its value is kept, or `login`,"
                " which asks for it, or `user`"
            )
        if self.user and self.placement is not Placement.BASIC:
            raise ValueError('`user` is sent with placement = "basic"')
        named = self.placement in {Placement.HEADER, Placement.QUERY}
        if named != bool(self.name):
            raise ValueError(
                "`name` is needed for a credential in a header or a query, and only there"
            )


class InlineRetry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Immediate repetitions of a request; beyond them the item goes back and waits in the store."""

    retries: Few = 2
    """Most repetitions of one request within an attempt."""
    budget_s: Patience = 10.0
    """Seconds after the first request in which a repetition may begin."""
    base_s: Patience = 0.5
    """Longest wait before the first repetition, in seconds. Each wait is drawn evenly from 0 to its
    longest."""
    factor: Factor = 3.0
    """Growth of the longest wait with each further repetition."""


class CachePolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The caching of a provider's answers."""

    enabled: bool = True
    """Cache answers as their headers allow."""
    default_ttl_s: Patience = 0.0
    """Seconds for which an answer without an age in its headers is fresh."""
    max_bytes: Count = 1_000_000_000
    """Largest answer that is cached, in bytes."""


class ProviderPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of one provider. A limit that is left out has no ceiling, or is learned."""

    hosts: tuple[str, ...] = ()
    """Its hosts: `api.example.org`, `api.example.org:8443` or `*.example.org`."""
    rate: str = ""
    """The most requests: `5/s`, or several limits at once: `10/s, 100/min`."""
    burst: Count | None = None
    """Most requests at the same moment after a rest."""
    concurrency: Count | None = None
    """Most transfers at the same time."""
    concurrency_per_host: Count | None = None
    """Most transfers at the same time with one of its hosts."""
    concurrency_per_domain: Count | None = None
    """Most transfers at the same time with its hosts of one registrable domain."""
    each_host: bool = False
    """Its hosts share only these settings: each has its own limits and gates."""
    budget: Mapping[Name, str] = {}
    """Limits on amounts other than requests: `{tokens = "90000/min"}`."""
    hard_caps: Mapping[Name, str] = {}
    """Limits like `budget`, but a job pauses when one is spent, until the next window."""
    credentials: Mapping[Name, CredentialPolicy] = {}
    """Keys and tokens by name; several form a pool."""
    for_users: bool = False
    """Send its credentials also with lookups that users describe in a job's config."""
    user_methods: tuple[Method, ...] = ("GET", "HEAD")
    """With `for_users`: the methods that a user's request may have."""
    user_paths: tuple[PathPrefix, ...] = ()
    """With `for_users`: prefixes that the path of a user's request must have, such as `/v1/search`;
    empty: any path."""
    user_agent: Line = ""
    """The `User-Agent` header."""
    contact: Line = ""
    """An email address or a page at which the provider can contact you."""
    contact_parameter: Line = ""
    """The URL parameter in which the provider wants the contact."""
    refusals: tuple[Status, ...] = ()
    """Statuses that ask us to slow down, in addition to 429 and a 503 with `Retry-After`."""
    patience_s: Patience = 30.0
    """Seconds that a request waits at the gates before its item goes back to wait in the store."""
    retry: InlineRetry = InlineRetry()
    """Immediate repetitions of a request."""
    cache: CachePolicy = CachePolicy()
    """The caching of its answers."""
    timeout_s: Seconds = 300.0
    """Seconds for one exchange, without the time spent at the gates."""
    robots: bool = False
    """Obey robots.txt: skip URLs that it does not allow, and keep its `Crawl-delay`."""

    def __post_init__(self) -> None:
        for host in self.hosts:
            _check_host(host)
        for name, text in {"rate": self.rate, **self.budget, **self.hard_caps}.items():
            _check_limits(name, text)
        if any(not text.strip() for text in (*self.budget.values(), *self.hard_caps.values())):
            raise ValueError("a budget needs a limit, such as 90000/min")
        if self.each_host and (self.hosts or self.concurrency):
            raise ValueError(
                "with `each_host` the settings are for hosts of no provider, which share no cap:"
                " leave out `hosts` and `concurrency`, or give your provider another name"
            )
        if self.credentials and not self.hosts:
            raise ValueError("credentials need `hosts`: they are sent only to the declared hosts")
        self._check_logins()

    def _check_logins(self) -> None:
        for name, credential in self.credentials.items():
            login = credential.login
            if login and not declares(self, login.host):
                raise ValueError(
                    f"credential {name!r}: {login.host} in `login.url` is not one of the `hosts`;"
                    " add it there if the secrets may be sent to it"
                )

    @property
    def limits(self) -> tuple[Limit, ...]:
        return parse_limits(self.rate)

    @property
    def logs_in(self) -> bool:
        return any(each.login for each in self.credentials.values())

    @property
    def needs_credential(self) -> bool:
        return any(not each.optional for each in self.credentials.values())


def credential_refusal(policy: ProviderPolicy, method: str, path: str) -> str:
    """Why a request that a user described is sent without a credential; empty if it may have one.

    `path` is normalized, without the query.
    """
    if not policy.for_users:
        return "its credentials are for the operator's own handlers (for_users = false)"
    if method not in policy.user_methods:
        return f"{method} is not among the methods for users ({', '.join(policy.user_methods)})"
    if policy.user_paths and not any(_is_below(path, each) for each in policy.user_paths):
        return f"the path is not among the paths for users ({', '.join(policy.user_paths)})"
    return ""


def _is_below(path: str, prefix: str) -> bool:
    """Whether every server reads the path as one below the prefix."""
    odd = path.upper()
    if "//" in odd or "\\" in odd or any(code in odd for code in ("%2E", "%2F", "%5C", "%25")):
        return False
    return path == prefix or path.startswith(prefix if prefix.endswith("/") else prefix + "/")


def provider_of(host: str, policies: Mapping[str, ProviderPolicy], own: str = "") -> str:
    """The provider that declares a host (a key of `core.url`), or "".

    The host itself comes first, then the longest pattern that fits. Of several that are left, it is
    `own`: two sources of one host have credentials of their own.
    """
    fits = [
        (not pattern.startswith("*."), len(pattern), name == own, name)
        for name, policy in policies.items()
        for pattern in policy.hosts
        if _fits(host, pattern)
    ]
    return max(fits)[3] if fits else ""


def declares(policy: ProviderPolicy, host: str) -> bool:
    """Whether a host (a key of `core.url`) is among the provider's."""
    return any(_fits(host, pattern) for pattern in policy.hosts)


def _fits(host: str, pattern: str) -> bool:
    if pattern.startswith("*."):
        return host.endswith("." + host_key(pattern[2:]))
    return host == host_key(pattern)


def _check_host(host: str) -> None:
    try:
        host_key(host.removeprefix("*."))
    except BadUrl as error:
        raise ValueError(
            f"{host!r} is not a host: write api.example.org or *.example.org"
        ) from error


def _check_limits(name: str, text: str) -> None:
    try:
        parse_limits(text)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


# ---- providers known beforehand -----------------------------------------------------------------

DAY_S: Final = 86_400.0

PRESETS: Final[Mapping[str, ProviderPolicy]] = MappingProxyType(
    {
        # https://info.arxiv.org/help/api/tou.html: one request every three seconds, over one
        # connection, for all machines together; answers change once a day.
        "arxiv": ProviderPolicy(
            hosts=("export.arxiv.org", "arxiv.org", "www.arxiv.org", "rss.arxiv.org"),
            rate="1/3s",
            concurrency=1,
            cache=CachePolicy(default_ttl_s=DAY_S),
        ),
        # https://www.crossref.org/documentation/retrieve-metadata/rest-api/access-and-authentication/
        # Without a contact 5/s, one at a time; with one (`mailto`) 10/s for single records and 3/s
        # for lists. The headers of every answer say which of them applies.
        "crossref": ProviderPolicy(
            hosts=("api.crossref.org",),
            rate="5/s",
            concurrency=1,
            contact_parameter="mailto",
        ),
        # https://www.rfc-editor.org/rfc/rfc9309: the hosts that `download` fetches files from, of
        # any owner; each publishes its rules in robots.txt. The caps are our own caution.
        "files": ProviderPolicy(
            each_host=True,
            concurrency_per_host=4,
            concurrency_per_domain=8,
            robots=True,
        ),
        # https://operations.osmfoundation.org/policies/nominatim/: at most 1/s for all users of
        # an application together, one thread, and a User-Agent that names the application.
        "nominatim": ProviderPolicy(
            hosts=("nominatim.openstreetmap.org",),
            rate="1/s",
            concurrency=1,
            contact_parameter="email",
            refusals=(403,),
            cache=CachePolicy(default_ttl_s=7 * DAY_S),
        ),
        # https://developers.openai.com/api/docs/guides/rate-limits: requests and tokens a minute by
        # model and account, declared in x-ratelimit-* headers; so nothing is fixed here.
        "openai": ProviderPolicy(
            hosts=("api.openai.com",),
            credentials={"default": CredentialPolicy(env="OPENAI_API_KEY", optional=True)},
            timeout_s=600.0,
            cache=CachePolicy(enabled=False),
        ),
        # https://developers.openalex.org/api-reference/authentication: 100/s for every user; a key,
        # which costs nothing, is needed for more than a few calls a day.
        "openalex": ProviderPolicy(
            hosts=("api.openalex.org",),
            rate="100/s",
            credentials={
                "default": CredentialPolicy(
                    env="OPENALEX_API_KEY",
                    placement=Placement.QUERY,
                    name="api_key",
                    optional=True,
                )
            },
        ),
        # https://unpaywall.org/products/api: 100,000 calls a day, with an email address in each.
        "unpaywall": ProviderPolicy(
            hosts=("api.unpaywall.org",),
            rate="10/s, 100000/day",
            contact_parameter="email",
        ),
        # https://www.mediawiki.org/wiki/API:Etiquette: no fixed limit for reading, one request
        # after the other is safe, and a User-Agent with a contact. The query service allows five
        # queries at a time (https://www.mediawiki.org/wiki/Wikidata_Query_Service/User_Manual).
        "wikidata": ProviderPolicy(
            hosts=("www.wikidata.org", "query.wikidata.org"),
            rate="5/s",
            concurrency=5,
        ),
    }
)
"""Each figure is the provider's own, from the page named beside it, for users without an agreement.
A user who may send more raises it in the settings. Limits that a provider declares in its answers,
or shows by refusals, are learned in addition."""
