"""Results that were finished before, found for many lanes at once."""

import asyncio
from collections import defaultdict
from typing import Protocol

from headgate.ports.items import Recalled, RecallRequest

_Group = tuple[str, float]
"""An owner, and how many seconds old a result may be."""


class RecallSource(Protocol):
    """The one verb that this needs."""

    async def recall(self, request: RecallRequest) -> list[Recalled]:
        """What was finished before under the same digests."""
        ...


class Reuse:
    """Asks once for all lanes that ask at the same moment.

    A query for each row would cost more than many a handler does.
    """

    def __init__(self, source: RecallSource) -> None:
        self._source = source
        self._asked: dict[_Group, dict[str, asyncio.Future[Recalled | None]]] = defaultdict(dict)
        self._asking: set[asyncio.Task[None]] = set()

    async def find(self, owner: str, digest: str, within_s: float) -> Recalled | None:
        """The newest result under that digest, if it is young enough."""
        group = self._asked[owner, within_s]
        if digest not in group:
            group[digest] = asyncio.get_running_loop().create_future()
        if len(group) == 1:
            task = asyncio.ensure_future(self._ask((owner, within_s)))
            self._asking.add(task)
            task.add_done_callback(self._asking.discard)
        return await asyncio.shield(group[digest])

    async def _ask(self, key: _Group) -> None:
        # A task begins after all that is ready to run, so others have asked as well by now.
        owner, within_s = key
        group = self._asked.pop(key)
        try:
            found = await self._source.recall(RecallRequest(owner, [*group], within_s))
        except Exception as error:  # noqa: BLE001  handed on to whoever asked
            for waiting in group.values():
                waiting.set_exception(error)
            return
        by_digest = {each.digest: each for each in found}
        for digest, waiting in group.items():
            waiting.set_result(by_digest.get(digest))
