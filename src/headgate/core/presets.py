"""Providers that are known beforehand, with the limits that they publish.

Each figure is the provider's own, from the page named beside it, for users without an agreement: a
user who may send more raises it in the settings. Limits that a provider declares in its answers, or
shows by refusals, are learned in addition.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from headgate.core.provider import CachePolicy, CredentialPolicy, Placement, ProviderPolicy

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
