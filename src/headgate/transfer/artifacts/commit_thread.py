"""A thread that brings finished files to the disk while others are still written."""

import queue
import threading
from contextlib import suppress
from pathlib import Path

from headgate.ports.artifacts import FileTrouble
from headgate.transfer.artifacts.committer import Committer, Delivery


class CommitThread:
    """Takes whatever has come since the round before."""

    def __init__(self, root: Path) -> None:
        self._committer = Committer(root)
        self._waiting: queue.SimpleQueue[Delivery | None] = queue.SimpleQueue()
        self._over = False
        self._thread = threading.Thread(target=self._run, name="artifacts-commit", daemon=True)
        self._thread.start()

    def add(self, delivery: Delivery) -> None:
        """Have a file put in its place."""
        if self._thread.is_alive():
            self._waiting.put(delivery)
        else:
            delivery.give_up(FileTrouble("the folder was closed before the file was finished"))

    def close(self) -> None:
        """Finish what has come, and end."""
        if self._thread.is_alive():
            self._waiting.put(None)
            self._thread.join()
            self._committer.close()

    def _run(self) -> None:
        while not self._over or self._committer.is_waited_for:
            self._committer.round(self._taken(wait=not self._committer.is_waited_for))

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
