"""SQL files with several statements, each under a line `-- name: …`."""

import re

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


def named_queries(text: str) -> dict[str, str]:
    _, *parts = _NAME.split(text)
    return dict(zip(parts[::2], (body.strip() for body in parts[1::2]), strict=True))
