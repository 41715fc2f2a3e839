"""A URL is its own plan."""

from typing import Final

from headgate.handlers.download.identifier import Identifier, IdentifierKind
from headgate.handlers.download.plan import Plan, ResolverResult, ResolverVerdict, Step
from headgate.handlers.download.resolvers.options import ResolverOptions
from headgate.handlers.download.resolvers.resolver import Resolver

NAME: Final = "direct"


def build_request(identifier: Identifier, options: ResolverOptions) -> Step:  # noqa: ARG001
    """Return the plan at once: a URL is its own plan, and any type is accepted."""
    return ResolverResult(ResolverVerdict.FOUND, (Plan(NAME, identifier.value, types=()),))


RESOLVER = Resolver(
    name=NAME,
    about="The URL itself, of whatever type its file is.",
    kinds=frozenset({IdentifierKind.URL}),
    build_request=build_request,
)
