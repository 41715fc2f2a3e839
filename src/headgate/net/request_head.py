"""A request as it is written on the wire, up to its body."""

from typing import Final

from headgate.ports.wire import WireRequest

_OURS: Final = frozenset({"host", "content-length", "transfer-encoding"})
"""Where a request ends is not for others to say, or one could be hidden in another."""
_MAY_LACK_BODY: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
"""These say nothing of a length where there is none."""


def split_url(url: str) -> tuple[str, str]:
    """Scheme and host of a normalized URL, and what that host is asked for."""
    end = url.find("/", len("https://"))
    if end < 0:
        return url, "/"
    mark = url.find("#", end)
    return url[:end], url[end:] if mark < 0 else url[end:mark]


def head_of(request: WireRequest, host: str, target: str) -> bytes:
    """All lines up to the body; ValueError if a part of one would begin another."""
    method, headers, body = request.method, request.headers, request.body
    lines = [f"{method} {target} HTTP/1.1", f"host: {dict(headers).get('host', host)}"]
    lines += [f"{name}: {value}" for name, value in headers if name not in _OURS]
    if body or method not in _MAY_LACK_BODY:
        lines.append(f"content-length: {len(body or b'')}")
    text = "\n".join(lines)
    if text.count("\n") >= len(lines) or "\r" in text or "\0" in text:
        raise ValueError("a request has no line break and no null in its URL or in a header")
    return f"{text}\n\n".replace("\n", "\r\n").encode()
