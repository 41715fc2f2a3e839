"""The Wayback Machine: archived copies of dead URLs."""

import re
from typing import Final

from headgate.core.provider import ProviderPolicy
from headgate.handlers.download.identifier import Identifier, IdentifierKind
from headgate.handlers.download.plan import PDF, Plan, ResolverReply, ResolverRequest, Step
from headgate.handlers.download.resolvers.json_tree import (
    UnreadableReply,
    at,
    ending,
    link,
    text,
    tree_of,
    unknown,
    value_of,
)
from headgate.handlers.download.resolvers.options import ResolverOptions
from headgate.handlers.download.resolvers.resolver import Resolver

NAME: Final = "wayback"
YEARS: Final = 2
MOST_SNAPSHOTS: Final = 8
LISTING: Final = "listing"
ARCHIVE: Final = "https://archive.org"
SNAPSHOTS: Final = "https://web.archive.org"
"""Hosts of the archive's listing and snapshots; a test server has both in one place."""
_MOMENT: Final = re.compile(r"[0-9]{14}")


def build_request(identifier: Identifier, options: ResolverOptions) -> Step:
    url = f"{options.base_url}/wayback/available"
    return ResolverRequest(NAME, NAME, url, params={"url": identifier.value}, step="available")


def read_reply(identifier: Identifier, reply: ResolverReply) -> Step:
    """With one snapshot, ask for the PDFs of the years around it; the snapshot comes last."""
    if reply.ask.step == LISTING:
        return _read_listing(reply)
    tree = tree_of(reply)
    if not isinstance(at(tree, "archived_snapshots"), dict):
        raise UnreadableReply("the reply has no archived_snapshots")
    closest = at(tree, "archived_snapshots", "closest")
    moment = text(closest, "timestamp")
    if at(closest, "available") is not True or not _MOMENT.fullmatch(moment):
        return unknown("the archive")
    root = reply.ask.url.removesuffix("/wayback/available")
    root = SNAPSHOTS if root == ARCHIVE else root
    plan = _plan(root, moment, identifier.value)
    year = int(moment[:4])
    params = {
        "url": identifier.value,
        "output": "json",
        "fl": "timestamp,original,statuscode",
        "filter": f"mimetype:{PDF}",
        "from": str(year - YEARS),
        "to": str(year + YEARS),
        "collapse": "digest",
        "limit": str(MOST_SNAPSHOTS),
    }
    return ResolverRequest(
        NAME, NAME, f"{root}/cdx/search/cdx", params=params, step=LISTING, found=(plan,)
    )


def _read_listing(reply: ResolverReply) -> Step:
    lines = value_of(reply)
    if not isinstance(lines, list):
        raise UnreadableReply("the listing is not a list")
    root = reply.ask.url.removesuffix("/cdx/search/cdx")
    plans = [
        _plan(root, line[0], line[1])
        for line in lines[1 : MOST_SNAPSHOTS + 1]
        if _is_snapshot(line)
    ]
    return ending([*reversed(plans), *reply.ask.found])


def _is_snapshot(line: object) -> bool:
    return (
        isinstance(line, list)
        and len(line) == 3
        and all(isinstance(each, str) for each in line)
        and _MOMENT.fullmatch(line[0]) is not None
        and line[2] == "200"
    )


def _plan(root: str, moment: str, url: str) -> Plan:
    # `id_` selects the archived bytes without the archive's own frame.
    return Plan(NAME, link(f"{root}/web/{moment}id_/{url}"), note=f"archived {moment[:8]}")


RESOLVER = Resolver(
    name=NAME,
    about="Two requests: whether a snapshot exists, and the PDFs of two years around it.",
    kinds=frozenset({IdentifierKind.URL}),
    build_request=build_request,
    read_reply=read_reply,
    base_url=ARCHIVE,
    provider=NAME,
    # No limit is published; this rate is our own caution.
    policy=ProviderPolicy(hosts=("web.archive.org", "archive.org"), rate="1/s", concurrency=2),
    on=False,
    rescue=True,
)
