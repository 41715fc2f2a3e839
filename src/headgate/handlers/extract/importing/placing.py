"""Finds the base URL that the streams of a source share."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

_ORIGIN: Final = re.compile(r"(?:[a-z]+://|\{)[^/?#]+")
"""Scheme and host; a setting that holds both begins with its brace."""
Resources = Mapping[str, Mapping[str, Any]]


def with_bases(resources: Resources) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """The resources without their `base`, and the client that has it.

    Streams on other hosts get whole URLs.
    """
    urls = {name: _url(each) for name, each in resources.items()}
    if not urls:
        return {}, {}
    bases = [str(each.get("base") or _origin(urls[name])) for name, each in resources.items()]
    base = Counter(bases).most_common(1)[0][0].rstrip("/")
    origins = {_origin(url) for url in urls.values()}
    if len(origins) == 1 and any(not url.startswith(base) for url in urls.values()):
        base = next(iter(origins))
    placed = {name: _placed(each, urls[name], base) for name, each in resources.items()}
    others = {origin.partition("://")[2] for origin in origins - {_origin(base)}}
    hosts = sorted(host for host in others if host and "{" not in host)
    return placed, {"base_url": base, "hosts": hosts}


def _url(resource: Mapping[str, Any]) -> str:
    path = str(resource["endpoint"].get("path", ""))
    if _ORIGIN.match(path):
        return path
    base = str(resource.get("base") or "")
    return f"{base.rstrip('/')}/{path.lstrip('/')}" if path else base


def _placed(resource: Mapping[str, Any], url: str, base: str) -> dict[str, Any]:
    inside = url == base or url.startswith((f"{base}/", f"{base}?"))
    endpoint = {**resource["endpoint"], "path": url.removeprefix(base) if inside else url}
    kept = {name: value for name, value in resource.items() if name != "base"}
    return {**kept, "endpoint": endpoint}


def _origin(url: str) -> str:
    found = _ORIGIN.match(url)
    return found[0] if found else url
