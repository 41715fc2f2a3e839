"""CORE: files of repositories all over the world."""

from typing import Final

from headgate.core.provider import CredentialPolicy, ProviderPolicy
from headgate.handlers.download.identifier import Identifier, IdentifierKind
from headgate.handlers.download.plan import Plan, ResolverReply, ResolverRequest, Step
from headgate.handlers.download.resolvers.json_tree import (
    Tree,
    ending,
    is_doi,
    link,
    names_pdf,
    phrase,
    rows,
    some,
    text,
    texts,
    tree_of,
    unknown,
)
from headgate.handlers.download.resolvers.options import ResolverOptions
from headgate.handlers.download.resolvers.resolver import Resolver

NAME: Final = "core"
KEY: Final = "CORE_API_KEY"


def build_request(identifier: Identifier, options: ResolverOptions) -> Step:
    """Search for the DOI. The slash at the end is required."""
    params = {"q": f"doi:{phrase(identifier.doi)}", "limit": "5"}
    return ResolverRequest(NAME, NAME, f"{options.base_url}/search/works/", params=params)


def read_reply(identifier: Identifier, reply: ResolverReply) -> Step:
    """The copy of CORE first, then PDFs at the sources."""
    works = [
        work
        for work in rows(tree_of(reply), "results")
        if is_doi(text(work, "doi"), identifier.doi)
    ]
    if not works:
        return unknown("CORE")
    kept = [Plan(NAME, link(work, "downloadUrl"), note="downloadUrl") for work in works]
    others = [Plan(NAME, url, note=where) for work in works for where, url in _elsewhere(work)]
    return ending([*kept, *others])


def _elsewhere(work: Tree) -> list[tuple[str, str]]:
    listed = [
        ("links", link(each, "url"))
        for each in some(work, "links")
        if text(each, "type") == "download"
    ]
    sources = [("sourceFulltextUrls", link(url)) for url in texts(work, "sourceFulltextUrls")]
    return listed + [(where, url) for where, url in sources if names_pdf(url)]


RESOLVER = Resolver(
    name=NAME,
    about="The copy that CORE keeps, then PDFs at the sources.",
    kinds=frozenset({IdentifierKind.DOI, IdentifierKind.ARXIV}),
    build_request=build_request,
    read_reply=read_reply,
    base_url="https://api.core.ac.uk/v3",
    provider=NAME,
    # https://api.core.ac.uk/docs/v3#section/Rate-limits: tokens per day and per minute, by the kind
    # of user, in headers; every user with a key has ten per minute.
    policy=ProviderPolicy(
        hosts=("api.core.ac.uk",),
        rate="10/min",
        credentials={"default": CredentialPolicy(env=KEY)},
    ),
    key_env=KEY,
    needs_key=True,
)
