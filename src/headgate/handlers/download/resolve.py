"""Asks the resolvers about an identifier, one after the other, while files are wanted."""

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Final

from headgate.core.fault import AttemptOver
from headgate.handlers.download.attempts import DEAD, Miss, miss_of, miss_of_reading
from headgate.handlers.download.identifier import Identifier, IdentifierKind
from headgate.handlers.download.plan import (
    Plan,
    ResolverReply,
    ResolverRequest,
    ResolverResult,
    ResolverVerdict,
)
from headgate.handlers.download.resolvers.resolver import MOST_STEPS, Resolver
from headgate.handlers.download.resolvers.selection import ResolverSelection
from headgate.ports.http import Http

LANDING_PAGE: Final = "landing_page"
MOST_PAGES: Final = 3
MOST_DEAD: Final = 3
"""Most URLs of one item about which an archive is asked."""


class Resolution:
    """The plans for one item, each once, the likeliest first; and the misses."""

    def __init__(
        self,
        identifier: Identifier,
        selection: ResolverSelection,
        http: Http,
        headers: Mapping[str, str],
    ) -> None:
        self._identifier = identifier
        self._selection = selection
        self._http = http
        self._headers = headers
        self._seen: set[str] = set()
        self._pages: list[str] = []
        self.misses: list[Miss] = []
        """The caller adds a miss for each plan that fails."""

    async def plans(self) -> AsyncIterator[Plan]:
        """Yield plans; ask the next resolver only after all earlier plans failed, archives last."""
        for resolver in self._selection.of(self._identifier):
            for plan in self._fresh(await self._ask(resolver, self._identifier)):
                yield plan
            if resolver.name == LANDING_PAGE:
                async for plan in self._on_pages(resolver):
                    yield plan
        for url in self._dead():
            for rescuer in self._selection.rescuers():
                for plan in self._fresh(
                    await self._ask(rescuer, Identifier(IdentifierKind.URL, url))
                ):
                    yield plan

    async def _on_pages(self, resolver: Resolver) -> AsyncIterator[Plan]:
        """Files on the pages that other resolvers have named."""
        for page in self._pages[:MOST_PAGES]:
            for plan in self._fresh(
                await self._ask(resolver, Identifier(IdentifierKind.URL, page))
            ):
                yield plan

    def _fresh(self, reading: ResolverResult) -> Iterator[Plan]:
        self._pages += [page for page in reading.pages if page not in self._pages]
        for plan in reading.plans:
            if plan.url not in self._seen:
                self._seen.add(plan.url)
                yield plan

    def _dead(self) -> list[str]:
        dead = [miss.url for miss in self.misses if miss.url and miss.reason in DEAD]
        return dead[:MOST_DEAD]

    async def _ask(self, resolver: Resolver, identifier: Identifier) -> ResolverResult:
        """Run a resolver to its result; add a miss if it names no file."""
        step = resolver.start(identifier, self._selection.options(resolver))
        for _ in range(MOST_STEPS):
            if isinstance(step, ResolverResult):
                break
            try:
                reply = await self._exchange(step)
            except AttemptOver as over:
                self.misses.append(miss_of(over, resolver.name, ""))
                return ResolverResult(ResolverVerdict.FOUND, step.found)
            step = resolver.read(identifier, reply)
        if not isinstance(step, ResolverResult):
            raise RuntimeError(f"{resolver.name} asks too often")  # noqa: TRY004  it is a defect
        if miss := miss_of_reading(resolver.name, step):
            self.misses.append(miss)
        return step

    async def _exchange(self, ask: ResolverRequest) -> ResolverReply:
        response = await self._http.request(
            ask.method,
            ask.url,
            params=ask.params or None,
            headers={**self._headers, **ask.headers},
            json=ask.json,
            light=ask.light,
            max_bytes=ask.max_bytes,
        )
        return ResolverReply(
            ask, response.status_code, response.text, response.headers, response.url
        )
