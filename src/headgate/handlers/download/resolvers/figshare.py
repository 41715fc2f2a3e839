"""figshare: a search for the DOI, then a request for the article's files."""

from typing import Final

from headgate.core.provider import ProviderPolicy
from headgate.handlers.download.identifier import Identifier, IdentifierKind
from headgate.handlers.download.plan import PDF, Plan, ResolverReply, ResolverRequest, Step
from headgate.handlers.download.resolvers.json_tree import (
    Tree,
    UnreadableReply,
    at,
    ending,
    is_doi,
    link,
    rows,
    text,
    tree_of,
    unknown,
    value_of,
)
from headgate.handlers.download.resolvers.options import ResolverOptions
from headgate.handlers.download.resolvers.resolver import Resolver

NAME: Final = "figshare"
ARTICLE: Final = "article"


def build_request(identifier: Identifier, options: ResolverOptions) -> Step:
    url = f"{options.base_url}/v2/articles/search"
    body = {"doi": identifier.doi, "page_size": 5}
    return ResolverRequest(NAME, NAME, url, method="POST", json=body, step="search")


def read_reply(identifier: Identifier, reply: ResolverReply) -> Step:
    """Read the search, which has no files, or the article, which has them."""
    if reply.ask.step == ARTICLE:
        return _read_article(reply)
    found = [each for each in rows(value_of(reply)) if is_doi(text(each, "doi"), identifier.doi)]
    if not found:
        return unknown("figshare")
    number = at(found[0], "id")
    if not isinstance(number, int):
        raise UnreadableReply("an article has no id")
    url = reply.ask.url.removesuffix("/search")
    return ResolverRequest(NAME, NAME, f"{url}/{number}", step=ARTICLE)


def _read_article(reply: ResolverReply) -> Step:
    article = tree_of(reply)
    license_ = text(article, "license", "name")
    return ending(_plan(file, license_) for file in rows(article, "files") if _is_pdf(file))


def _is_pdf(file: Tree) -> bool:
    named = text(file, "name").lower().endswith(".pdf")
    return at(file, "is_link_only") is not True and (named or text(file, "mimetype") == PDF)


def _plan(file: Tree, license_: str) -> Plan:
    md5 = text(file, "computed_md5") or text(file, "supplied_md5")
    return Plan(
        NAME,
        link(file, "download_url"),
        license=license_,
        checksum=f"md5:{md5}" if md5 else "",
        note=text(file, "name"),
    )


RESOLVER = Resolver(
    name=NAME,
    about="Two requests: the article by its DOI, then its PDFs with their checksums.",
    kinds=frozenset({IdentifierKind.DOI}),
    build_request=build_request,
    read_reply=read_reply,
    base_url="https://api.figshare.com",
    provider=NAME,
    # https://docs.figshare.com: not more than one request a second.
    policy=ProviderPolicy(hosts=("api.figshare.com",), rate="1/s"),
    home=("figshare.",),
)
