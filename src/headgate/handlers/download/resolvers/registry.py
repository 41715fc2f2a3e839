"""Every resolver there is, in the order in which they are asked unless told otherwise."""

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

# Services that tell many places with one light question come first; pages press the hosts
# themselves, so they come when nobody knows a file; the archive is for links that are dead.
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
