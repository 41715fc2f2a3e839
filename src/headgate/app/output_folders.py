"""The output folders of a process: opened on first use, and closed at the end."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Final

from headgate.ports.artifacts import Artifacts
from headgate.ports.clock import Clock

if TYPE_CHECKING:
    from headgate.transfer.artifacts.folder import ArtifactFolder

DAY_US: Final = 86_400_000_000
KEPT_US: Final = 7 * DAY_US
"""Time that a partial file is kept for a later attempt, in microseconds."""


class OutputFolders:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._open: dict[str, ArtifactFolder] = {}
        self._opening: dict[str, asyncio.Lock] = {}

    async def __call__(self, path: str) -> Artifacts:
        """The open folder at a path, cleaned of leftovers; raises FolderTrouble."""
        found = self._open.get(path)
        if found is None:
            async with self._opening.setdefault(path, asyncio.Lock()):
                found = self._open.get(path) or await self._opened(path)
        return found

    async def close(self) -> None:
        while self._open:
            _, folder = self._open.popitem()
            await folder.close()

    async def _opened(self, path: str) -> "ArtifactFolder":
        # Most jobs write no files.
        from headgate.transfer.artifacts.folder import ArtifactFolder  # noqa: PLC0415

        folder = ArtifactFolder(Path(path))
        try:
            await folder.__aenter__()
            await folder.tidy(self._clock.now() - KEPT_US)
        except BaseException:
            await folder.close()
            raise
        self._open[path] = folder
        return folder
