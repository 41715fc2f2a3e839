"""All resolvers, in the default order."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from headgate.handlers.download.resolvers import (
    arxiv,
    core,
    crossref,
    direct,
    doaj,
    europe_pmc,
    figshare,
    hal,
    landing_page,
    openaire,
    openalex,
    osf,
    semantic_scholar,
    unpaywall,
    wayback,
    zenodo,
)
from headgate.handlers.download.resolvers.resolver import Resolver

# Services that give many places for one light request come first. Landing pages burden the hosts
# themselves, so they come after all services. The archive is for dead links.
_IN_ORDER: Final = (
    direct,
    unpaywall,
    crossref,
    arxiv,
    europe_pmc,
    core,
    doaj,
    semantic_scholar,
    openalex,
    zenodo,
    osf,
    hal,
    figshare,
    openaire,
    landing_page,
    wayback,
)

RESOLVERS: Final[Mapping[str, Resolver]] = MappingProxyType(
    {module.RESOLVER.name: module.RESOLVER for module in _IN_ORDER}
)
