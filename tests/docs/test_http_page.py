"""The page about HTTP shows every endpoint with curl."""

import re

from headgate.app.api.application import ROUTERS
from tests.kit.pages import ROOT, blocks, commands

PAGE = ROOT / "docs" / "how-to" / "http.md"


def asked() -> list[tuple[str, str]]:
    """Method and path of every request that the page makes."""
    found = []
    for block in blocks(PAGE):
        if block.language not in {"console", "bash"}:
            continue
        for command in commands(block):
            for line in command.text.replace("\\\n", " ").splitlines():
                for path in re.findall(r"\$URL(/[^\s\"|?)]*)", line):
                    named = re.search(r"-X (\w+)", line)
                    sends = " -F " in line or " -d " in line
                    found.append((named[1] if named else "POST" if sends else "GET", path))
    return found


def test_every_endpoint_is_shown():
    requests = asked()
    missing = []
    for router in ROUTERS:
        for route in router.routes:
            if not getattr(route, "include_in_schema", False):
                continue
            pattern = re.compile(re.sub(r"\{[^}]+\}", "[^/]+", route.path))
            for method in route.methods - {"HEAD"}:
                shown = any(each == method and pattern.fullmatch(path) for each, path in requests)
                if not shown:
                    missing.append(f"{method} {route.path}")
    assert sorted(missing) == []
