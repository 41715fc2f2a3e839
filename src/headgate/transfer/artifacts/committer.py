"""One thread that brings finished files to the disk, many at a time."""

import os
import queue
import threading
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path

from headgate.ports.artifacts import FileTrouble, Stored
from headgate.transfer.artifacts.durability import sync_all
from headgate.transfer.artifacts.partial import Partial
from headgate.transfer.artifacts.shelf import Shelf
from headgate.transfer.artifacts.trouble import said


class Delivery:
    """A complete file, and who waits for it to be safe."""

    def __init__(self, partial: Partial, sha256: str, name: str, outcome: "Future[Stored]") -> None:
        self.partial = partial
        self.sha256 = sha256
        self.name = name
        self.outcome = outcome
        self.stored: Stored | None = None


class Committer:
    """Bytes first, then names, then the word that all is well.

    Each round waits for the disk once: for the bytes of those that have just come, and for the
    names of those that came a round before. A name never leads to bytes that a power cut can
    take away.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._shelf = Shelf(root)
        self._waiting: queue.SimpleQueue[Delivery | None] = queue.SimpleQueue()
        self._over = False
        self._disk = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._thread = threading.Thread(target=self._run, name="artifacts-commit", daemon=True)
        self._thread.start()

    def add(self, delivery: Delivery) -> None:
        """Have a file put in its place."""
        if self._thread.is_alive():
            self._waiting.put(delivery)
        else:
            _give_up(delivery, FileTrouble("the folder was closed before the file was finished"))

    def close(self) -> None:
        """Finish what has come, and end."""
        if self._thread.is_alive():
            self._waiting.put(None)
            self._thread.join()
            os.close(self._disk)

    def _run(self) -> None:
        named: list[Delivery] = []
        while not self._over or named:
            fresh = self._taken(wait=not named)
            arrived, named_safely = self._synced(fresh, named)
            _confirm(named_safely)
            named = [each for each in arrived if self._placed(each)]

    def _taken(self, *, wait: bool) -> list[Delivery]:
        """All that have come; if nobody else is being waited for, at least one."""
        taken: list[Delivery] = []
        with suppress(queue.Empty):
            while not self._over:
                each = self._waiting.get(block=wait and not taken)
                if each is None:
                    self._over = True
                else:
                    taken.append(each)
        return taken

    def _synced(
        self, fresh: list[Delivery], named: list[Delivery]
    ) -> tuple[list[Delivery], list[Delivery]]:
        """Those whose bytes are on the disk, and those whose names are."""
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
            _give_up(delivery, trouble)
            return False
        partial.close()
        delivery.stored = Stored(name, size, delivery.sha256, known)
        return True

    def _failed(self, delivery: Delivery, error: OSError) -> None:
        _give_up(delivery, said(error, self._root))


def _give_up(delivery: Delivery, trouble: Exception) -> None:
    with suppress(OSError):
        delivery.partial.remove()
    delivery.partial.close()
    delivery.outcome.set_exception(trouble)


def _confirm(deliveries: list[Delivery]) -> None:
    for each in deliveries:
        if each.stored is not None:
            each.outcome.set_result(each.stored)
