"""OSF: preprints, by the id in their DOI."""

import re
from typing import Final

from headgate.core.provider import ProviderPolicy
from headgate.handlers.download.identifier import Identifier, IdentifierKind
from headgate.handlers.download.plan import Plan, ResolverReply, ResolverRequest, Step, Version
from headgate.handlers.download.resolvers.json_tree import (
    Tree,
    UnreadableReply,
    at,
    ending,
    link,
    not_asked,
    text,
    tree_of,
)
from headgate.handlers.download.resolvers.options import ResolverOptions
from headgate.handlers.download.resolvers.resolver import Resolver

NAME: Final = "osf"
_GUID: Final = re.compile(
    r"10\.[0-9]+/osf\.io/(?:preprints/[a-z0-9_-]+/)?([a-z0-9]{5,10}(?:_v[0-9]+)?)"
)


def build_request(identifier: Identifier, options: ResolverOptions) -> Step:
    """Ask for one preprint with its file. The API cannot be searched by DOI."""
    match = _GUID.fullmatch(identifier.value)
    if match is None:
        return not_asked("not a DOI of OSF")
    url = f"{options.base_url}/v2/preprints/{match[1]}/"
    return ResolverRequest(NAME, NAME, url, params={"embed": "primary_file"})


def read_reply(identifier: Identifier, reply: ResolverReply) -> Step:  # noqa: ARG001
    data = at(tree_of(reply), "data")
    if not isinstance(data, dict):
        raise UnreadableReply("the reply has no data")
    file = at(data, "embeds", "primary_file", "data")
    url = link(file, "links", "download") or link(data, "links", "download")
    return ending([_plan(data, file, url)])


def _plan(preprint: Tree, file: Tree, url: str) -> Plan:
    sha256 = text(file, "attributes", "extra", "hashes", "sha256")
    name = text(file, "attributes", "name")
    return Plan(
        NAME,
        url,
        # A preprint may also be a text document; its type shows when it arrives.
        types=() if name and not name.lower().endswith(".pdf") else ("application/pdf",),
        license=text(preprint, "embeds", "license", "data", "attributes", "name"),
        version=Version.SUBMITTED,
        checksum=f"sha256:{sha256}" if sha256 else "",
        note=name,
    )


RESOLVER = Resolver(
    name=NAME,
    about="The main file of the preprint.",
    kinds=frozenset({IdentifierKind.DOI}),
    build_request=build_request,
    read_reply=read_reply,
    base_url="https://api.osf.io",
    provider=NAME,
    # https://developer.osf.io: 100 requests an hour without a token.
    policy=ProviderPolicy(hosts=("api.osf.io",), rate="100/hour"),
    home=("/osf.io/",),
)
