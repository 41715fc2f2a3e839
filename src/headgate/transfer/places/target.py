"""Targets for written rows: a file, a gzip file, or standard output."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from headgate.transfer.places.gzip import PackedTarget, is_packed
from headgate.transfer.places.local import LocalTarget

STDOUT = Path("-")


class OutputTarget(Protocol):
    """Receives bytes; they take effect when it is committed."""

    def open(self) -> None: ...

    def write(self, data: bytes) -> None: ...

    def commit(self, record: Mapping[str, Any]) -> None:
        """Finish, with a record of what was written."""
        ...

    def abandon(self) -> None:
        """Undo as far as possible."""
        ...


class StdoutTarget:
    """Standard output: writes cannot be undone, and nothing keeps a record."""

    def open(self) -> None:
        """Do nothing: standard output is open already."""

    def write(self, data: bytes) -> None:
        sys.stdout.buffer.write(data)

    def commit(self, record: Mapping[str, Any]) -> None:  # noqa: ARG002 (nothing keeps it)
        sys.stdout.buffer.flush()

    def abandon(self) -> None:
        """Do nothing: writes cannot be undone."""


def target_of(path: Path) -> OutputTarget:
    if path == STDOUT:
        return StdoutTarget()
    return PackedTarget(path) if is_packed(path) else LocalTarget(path)
