"""Workers: who is at work, and sending one home."""

from headgate.client.values import Listed, Moment, Wired, params
from headgate.client.wire import Ask, Wire, segment


class Worker(Wired, frozen=True, kw_only=True):
    """A worker process."""

    id: str
    session_id: str
    host: str
    pid: int
    version: str
    beat: int
    running: int
    """Items that it holds."""
    draining: bool
    registered_at: Moment
    beat_at: Moment
    stopped_at: Moment = None
    boot_id: str = ""
    started_ticks: int = 0
    ttl_s: float = 0.0
    claim_size: int = 0
    """How many items its claims ask for at present; 0 before the first."""


class Workers:
    """Verbs over workers; for admins."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def ls(self, *, everybody: bool = False) -> list[Worker]:
        """Workers, newest first; `everybody`: also those that stopped."""
        ask = Ask(path="/api/workers", params=params(all=everybody))
        return (await self._wire.value(ask, Listed[Worker])).items

    async def drain(self, worker_id: str) -> Worker:
        """Let a worker finish what it runs, take nothing more, and end."""
        path = f"/api/workers/{segment(worker_id)}/drain"
        return await self._wire.value(Ask(method="POST", path=path), Worker)
