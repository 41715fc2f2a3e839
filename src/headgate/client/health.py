"""How the service is."""

from headgate.client.values import Wired


class Health(Wired, frozen=True, kw_only=True):
    """Whether the store answers and items move."""

    status: str
    """`ok`, or what is wrong: `store`, `not running`, `no workers`, `stalled`, `slow`."""
    version: str
    store: bool
    workers: int
    claimable: bool
    """Something could be claimed now."""
    moving: bool
    """Nothing waits, or something was claimed or finished within the last minute."""
    slow_jobs: int = 0
    """Jobs that have had work to do for 30 s and did less than 5 % of what they could."""
    not_running: tuple[str, ...] = ()
    """Parts of the server that gave no sign of life for too long: `file worker`, `supervisor`…"""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return self.status == "ok"
