"""Move finished files into the folder and sync them to disk, many at a time."""

import os
import queue
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from headgate.ports.artifacts import FileTrouble, StoredArtifact
from headgate.transfer.artifacts.content_store import ContentStore
from headgate.transfer.artifacts.disk import artifact_error, sync_all
from headgate.transfer.artifacts.partial import Partial


class Outcome(Protocol):
    """Receives the result of one file; a future does, too."""

    def set_result(self, stored: StoredArtifact, /) -> None:
        """The file is durably in the folder."""
        ...

    def set_exception(self, trouble: BaseException, /) -> None: ...


class CommitOrder:
    """A complete file, and the outcome that its caller waits for."""

    def __init__(self, partial: Partial, sha256: str, name: str, outcome: Outcome) -> None:
        self.partial = partial
        self.sha256 = sha256
        self.name = name
        self.outcome = outcome
        self.stored: StoredArtifact | None = None

    def give_up(self, trouble: Exception) -> None:
        with suppress(OSError):
            self.partial.remove()
        self.partial.close()
        self.outcome.set_exception(trouble)

    def confirm(self) -> None:
        if self.stored is not None:
            self.outcome.set_result(self.stored)


class Committer:
    """Syncs the bytes, then gives the name, then confirms.

    Each round waits for the disk once: for the bytes of new files, and for the names of the
    files of the round before. A name never refers to bytes that a power cut can
    take away.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._content_store = ContentStore(root)
        self._disk = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._named: list[CommitOrder] = []

    @property
    def has_unconfirmed(self) -> bool:
        """True if another round is due even without new files."""
        return bool(self._named)

    def round(self, fresh: Sequence[CommitOrder]) -> None:
        """Store and name the new files, and confirm the files of the round before."""
        arrived, named_safely = self._synced(fresh)
        for each in named_safely:
            each.confirm()
        self._named = [each for each in arrived if self._placed(each)]

    def close(self) -> None:
        """Release the folder. No file may be waiting for confirmation."""
        os.close(self._disk)

    def _synced(self, fresh: Sequence[CommitOrder]) -> tuple[list[CommitOrder], list[CommitOrder]]:
        """Files whose bytes are on the disk, and files whose names are."""
        named = self._named
        try:
            folders = {
                folder for each in named for folder in self._content_store.folders(each.sha256)
            }
            failed = sync_all([each.partial.number for each in fresh], folders, self._disk)
        except OSError as error:
            for each in (*fresh, *named):
                self._failed(each, error)
            return [], []
        for each in fresh:
            if trouble := failed.get(each.partial.number):
                self._failed(each, trouble)
        return [each for each in fresh if each.partial.number not in failed], named

    def _placed(self, delivery: CommitOrder) -> bool:
        partial = delivery.partial
        try:
            size = partial.size
            name, known = self._content_store.place(partial.path, delivery.sha256, delivery.name)
            partial.remove()
        except OSError as error:
            self._failed(delivery, error)
            return False
        except Exception as trouble:  # noqa: BLE001  the caller that waits gets it
            delivery.give_up(trouble)
            return False
        partial.close()
        delivery.stored = StoredArtifact(name, size, delivery.sha256, known)
        return True

    def _failed(self, delivery: CommitOrder, error: OSError) -> None:
        delivery.give_up(artifact_error(error, self._root))


class CommitThread:
    def __init__(self, root: Path) -> None:
        self._committer = Committer(root)
        self._waiting: queue.SimpleQueue[CommitOrder | None] = queue.SimpleQueue()
        self._over = False
        self._thread = threading.Thread(target=self._run, name="artifacts-commit", daemon=True)
        self._thread.start()

    def add(self, delivery: CommitOrder) -> None:
        if self._thread.is_alive():
            self._waiting.put(delivery)
        else:
            delivery.give_up(FileTrouble("the folder was closed before the file was finished"))

    def close(self) -> None:
        """Commit the remaining files and end the thread."""
        if self._thread.is_alive():
            self._waiting.put(None)
            self._thread.join()
            self._committer.close()

    def _run(self) -> None:
        while not self._over or self._committer.has_unconfirmed:
            self._committer.round(self._taken(wait=not self._committer.has_unconfirmed))

    def _taken(self, *, wait: bool) -> list[CommitOrder]:
        """All waiting files; at least one if `wait` is set."""
        taken: list[CommitOrder] = []
        with suppress(queue.Empty):
            while not self._over:
                each = self._waiting.get(block=wait and not taken)
                if each is None:
                    self._over = True
                else:
                    taken.append(each)
        return taken
