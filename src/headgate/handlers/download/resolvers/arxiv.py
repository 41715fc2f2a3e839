"""arXiv: the id decides the URL of the file."""

from typing import Final

from headgate.handlers.download.identifier import Identifier, IdentifierKind
from headgate.handlers.download.plan import Plan, ResolverResult, ResolverVerdict, Step, Version
from headgate.handlers.download.resolvers.options import ResolverOptions
from headgate.handlers.download.resolvers.resolver import Resolver

NAME: Final = "arxiv"


def build_request(identifier: Identifier, options: ResolverOptions) -> Step:
    """Return the plan at once: the id decides the URL."""
    url = f"{options.base_url}/pdf/{identifier.value}"
    return ResolverResult(ResolverVerdict.FOUND, (Plan(NAME, url, version=Version.SUBMITTED),))


RESOLVER = Resolver(
    name=NAME,
    about="The PDF that belongs to the id; without a version the newest.",
    kinds=frozenset({IdentifierKind.ARXIV}),
    build_request=build_request,
    # The host that arXiv keeps for programs: https://info.arxiv.org/help/bulk_data.html
    base_url="https://export.arxiv.org",
    provider=NAME,
)
