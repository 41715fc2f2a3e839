"""Finished files on their way to the disk, many at a time."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from headgate.ports.artifacts import StoredArtifact
from headgate.transfer.artifacts.durability import sync_all
from headgate.transfer.artifacts.partial import Partial
from headgate.transfer.artifacts.shelf import Shelf
from headgate.transfer.artifacts.trouble import said


class Outcome(Protocol):
    """Where it is said what became of a file."""

    def set_result(self, stored: StoredArtifact, /) -> None:
        """It is in the folder for good."""
        ...

    def set_exception(self, trouble: BaseException, /) -> None:
        """It is not."""
        ...


class Delivery:
    """A complete file, and who waits for it to be safe."""

    def __init__(self, partial: Partial, sha256: str, name: str, outcome: Outcome) -> None:
        self.partial = partial
        self.sha256 = sha256
        self.name = name
        self.outcome = outcome
        self.stored: StoredArtifact | None = None

    def give_up(self, trouble: Exception) -> None:
        """Remove what there is of it, and say why."""
        with suppress(OSError):
            self.partial.remove()
        self.partial.close()
        self.outcome.set_exception(trouble)

    def confirm(self) -> None:
        """Say that it is safe, if it has got a name."""
        if self.stored is not None:
            self.outcome.set_result(self.stored)


class Committer:
    """Bytes first, then names, then the word that all is well.

    Each round waits for the disk once: for the bytes of those that have just come, and for the
    names of those that came a round before. A name never leads to bytes that a power cut can
    take away.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._shelf = Shelf(root)
        self._disk = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._named: list[Delivery] = []

    @property
    def is_waited_for(self) -> bool:
        """Whether another round is due even if nothing comes."""
        return bool(self._named)

    def round(self, fresh: Sequence[Delivery]) -> None:
        """Bring those that have come one step further, and those before them to their end."""
        arrived, named_safely = self._synced(fresh)
        for each in named_safely:
            each.confirm()
        self._named = [each for each in arrived if self._placed(each)]

    def close(self) -> None:
        """Let go of the folder; nobody may be waited for."""
        os.close(self._disk)

    def _synced(self, fresh: Sequence[Delivery]) -> tuple[list[Delivery], list[Delivery]]:
        """Those whose bytes are on the disk, and those whose names are."""
        named = self._named
        try:
            folders = {folder for each in named for folder in self._shelf.folders(each.sha256)}
            failed = sync_all([each.partial.number for each in fresh], folders, self._disk)
        except OSError as error:
            for each in (*fresh, *named):
                self._failed(each, error)
            return [], []
        for each in fresh:
            if trouble := failed.get(each.partial.number):
                self._failed(each, trouble)
        return [each for each in fresh if each.partial.number not in failed], named

    def _placed(self, delivery: Delivery) -> bool:
        partial = delivery.partial
        try:
            size = partial.size
            name, known = self._shelf.place(partial.path, delivery.sha256, delivery.name)
            partial.remove()
        except OSError as error:
            self._failed(delivery, error)
            return False
        except Exception as trouble:  # noqa: BLE001  whoever waits for the file must hear of it
            delivery.give_up(trouble)
            return False
        partial.close()
        delivery.stored = StoredArtifact(name, size, delivery.sha256, known)
        return True

    def _failed(self, delivery: Delivery, error: OSError) -> None:
        delivery.give_up(said(error, self._root))
