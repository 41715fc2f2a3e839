"""Servers on loopback that answer as the services do, each at an address of its own.

What happens to a DOI stands in the DOI: `10.5555/found` is found, `10.5555/downn` meets a server
that is down. Every service hands out the same files, which are real PDFs.
"""

import json
import re
from contextlib import ExitStack
from enum import StrEnum
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote

import aiohttp

from headgate.handlers.download.identifier import Identifier, read_identifier
from headgate.handlers.download.plan import ResolverReply, ResolverRequest, ResolverResult
from headgate.handlers.download.resolvers.options import (
    ResolverOptions,
    ResolverPolicy,
    ResolverSettings,
)
from headgate.handlers.download.resolvers.registry import RESOLVERS
from headgate.handlers.download.resolvers.resolver import MOST_STEPS, Resolver
from tests.kit.answers import Answer, Request, redirect, refusal
from tests.kit.provider import Provider
from tests.kit.resolver_replies import SERVICES, figshare_article, pdf

JSON = [("Content-Type", "application/json")]
HTML = [("Content-Type", "text/html; charset=utf-8")]
MOMENT = "20150601120000"


class Case(StrEnum):
    """What a service makes of an identifier. Five letters, as the ids of OSF have."""

    FOUND = "found"
    SEVERAL = "sever"
    NO_FILE = "nofil"
    UNKNOWN = "unkno"
    BROKEN = "broke"
    """JSON that is cut off."""
    PAGE = "paged"
    """An HTML page with status 200."""
    ODD = "oddly"
    """JSON of another shape."""
    BUSY = "busyy"
    DOWN = "downn"


COUNTS = {Case.FOUND: 1, Case.SEVERAL: 3, Case.NO_FILE: 0}


def doi_of(case: Case, resolver: str = "") -> str:
    """A DOI of this fate, of the service's own where it knows no others."""
    return f"10.31234/osf.io/{case}" if resolver == "osf" else f"10.5555/{case}"


class Services:
    """One server for each service, and one that has the files."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._servers: dict[str, Provider] = {}

    def __enter__(self) -> Self:
        self._stack.__enter__()
        self.server("files").script = _file
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def server(self, name: str) -> Provider:
        """The server of a resolver, started when it is first asked for."""
        if name not in self._servers:
            server = Provider(lambda request: self._answer(name, request))
            self._servers[name] = self._stack.enter_context(server)
        return self._servers[name]

    def base_url(self, name: str) -> str:
        """What stands in the settings for it."""
        return self.server(name).url("")

    def options(self, name: str, email: str = "me@example.org") -> ResolverOptions:
        """What its resolver is asked with."""
        return ResolverOptions(self.base_url(name), email)

    def policy(self, email: str = "me@example.org") -> ResolverPolicy:
        """Settings under which every resolver asks here."""
        asking = [name for name in RESOLVERS if name != "direct"]
        settings = {name: ResolverSettings(base_url=self.base_url(name)) for name in asking}
        return ResolverPolicy(email=email, resolvers=settings)

    def urls(self, case: Case) -> list[str]:
        """The files that a service names in this case."""
        files = self.server("files")
        return [files.url(f"/{case}-{number}.pdf") for number in range(COUNTS.get(case, 0))]

    def _answer(self, name: str, request: Request) -> Answer:
        if name == "arxiv":
            return _file(request)
        asked = unquote(request.target) + request.body.decode("utf-8", "replace")
        match = re.search("|".join(Case), asked)
        case = Case(match[0]) if match else Case.UNKNOWN
        if case in _TROUBLE:
            return _TROUBLE[case]
        if name == "landing_page":
            return self._page(case, request)
        if name == "figshare":
            return self._figshare(case, request)
        if name == "wayback":
            return self._wayback(case, request)
        service = SERVICES[name]
        if case is Case.UNKNOWN:
            return _json(service.unknown) if service.unknown is not None else Answer(404)
        return _json(service.known(doi_of(case, name), self.urls(case)))

    def _page(self, case: Case, request: Request) -> Answer:
        if case is Case.UNKNOWN:
            return Answer(404, HTML, b"<h1>DOI not found</h1>")
        if not request.path.startswith("/article/"):
            return redirect(f"/article/{case}")
        cited = "".join(
            f'<meta name="citation_pdf_url" content="{url}">' for url in self.urls(case)
        )
        body = f"<!doctype html><html><head>{cited}</head><body><h1>On nothing</h1></body></html>"
        return Answer(200, HTML, body.encode())

    def _figshare(self, case: Case, request: Request) -> Answer:
        if request.method == "POST":
            if case is Case.UNKNOWN:
                return _json([])
            # The number of an article tells its case again when its files are asked for.
            number = 5550 + list(Case).index(case)
            return _json([{"id": number, "doi": doi_of(case), "title": "On nothing"}])
        case = list(Case)[int(request.path.rpartition("/")[2]) - 5550]
        return _json(figshare_article(self.urls(case)))

    def _wayback(self, case: Case, request: Request) -> Answer:
        if request.path.startswith("/web/"):
            return _file(request)
        if request.path == "/cdx/search/cdx":
            original = f"http://dead.example/{case}.pdf"
            rows = [[f"2014010100000{n}", original, "200"] for n in range(COUNTS.get(case, 0))]
            return _json([["timestamp", "original", "statuscode"], *rows] if rows else [])
        closest = {
            "available": True,
            "status": "200",
            "timestamp": MOMENT,
            "url": "http://w.example",
        }
        return _json({"archived_snapshots": {} if case is Case.UNKNOWN else {"closest": closest}})


async def exchange(session: aiohttp.ClientSession, ask: ResolverRequest) -> ResolverReply:
    """Send what a resolver asks, by a client that is not ours."""
    async with session.request(
        ask.method, ask.url, params=ask.params, headers=ask.headers, json=ask.json
    ) as response:
        text = await response.text()
        return ResolverReply(ask, response.status, text, dict(response.headers), str(response.url))


async def resolve(
    resolver: Resolver, identifier: Identifier, options: ResolverOptions
) -> ResolverResult:
    """Everything that one resolver has to say."""
    async with aiohttp.ClientSession() as session:
        step = resolver.start(identifier, options)
        for _ in range(MOST_STEPS):
            if isinstance(step, ResolverResult):
                return step
            step = resolver.read(identifier, await exchange(session, step))
    raise AssertionError(f"{resolver.name} asks on and on")


def identifier_for(resolver: Resolver, case: Case) -> Identifier:
    """One of this fate, of a kind that the resolver is asked about."""
    if resolver.rescue:
        return read_identifier(f"http://dead.example/{case}.pdf")
    return read_identifier(doi_of(case, resolver.name))


def _file(request: Request) -> Answer:
    return Answer(200, [("Content-Type", "application/pdf")], pdf(request.path))


def _json(value: Any) -> Answer:
    return Answer(200, JSON, json.dumps(value).encode())


_TROUBLE = {
    Case.BROKEN: Answer(200, JSON, b'{"results": [{"doi": "10.5555/br'),
    Case.PAGE: Answer(200, HTML, b"<!doctype html><title>Please sign in</title>"),
    Case.ODD: _json({"unexpected": {"shape": [1, None, "text"]}}),
    Case.BUSY: refusal("30"),
    Case.DOWN: Answer(500, HTML, b"<h1>Internal Server Error</h1>"),
}
