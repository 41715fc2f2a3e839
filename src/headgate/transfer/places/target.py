"""Where rows are written to, by its name: a file, a packed file, or standard output."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from headgate.transfer.places.gzip import PackedTarget, is_packed
from headgate.transfer.places.local import LocalTarget

STDOUT = Path("-")


class Target(Protocol):
    """Takes bytes; what it got counts when it is committed."""

    def open(self) -> None:
        """Begin."""
        ...

    def write(self, data: bytes) -> None:
        """Append."""
        ...

    def commit(self, record: Mapping[str, Any]) -> None:
        """End, with the record of what was written."""
        ...

    def abandon(self) -> None:
        """Take back what can be taken back."""
        ...


class StdoutTarget:
    """Standard output: what was written is gone, and there is no place for a record."""

    def open(self) -> None:
        """Nothing to do."""

    def write(self, data: bytes) -> None:
        """Pass it on."""
        sys.stdout.buffer.write(data)

    def commit(self, record: Mapping[str, Any]) -> None:  # noqa: ARG002 (see above)
        """Pass on what is left."""
        sys.stdout.buffer.flush()

    def abandon(self) -> None:
        """Nothing can be taken back."""


def target_of(path: Path) -> Target:
    """The target that a path names."""
    if path == STDOUT:
        return StdoutTarget()
    return PackedTarget(path) if is_packed(path) else LocalTarget(path)
