"""The number of items to claim and rows to ingest at a time, within bounds from the settings."""

import msgspec

from headgate.core.bounds import Count, Milliseconds, Seconds, Share


class Ewma:
    """An exponential moving average: `weight` is the share of each new value."""

    def __init__(self, weight: float = 0.2) -> None:
        self._weight = weight
        self.value: float | None = None

    def add(self, value: float) -> float:
        if self.value is None:
            self.value = value
        else:
            self.value += self._weight * (value - self.value)
        return self.value


class ClaimPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Bounds for claims and leases."""

    target_slice_s: Seconds = 2.0
    """Seconds of work that a claim takes at a time."""
    safety_factor: Share = 0.7
    """Share of that work that a claim really takes."""
    claim_min: Count = 1
    """Fewest items that a claim asks for."""
    claim_max: Count = 1_000
    """Most items that a claim asks for."""
    lock_floor_s: Seconds = 10.0
    """Shortest time without a heartbeat before others take a worker's items."""
    lock_cap_s: Seconds = 300.0
    """Longest time without a heartbeat; between the two it is twice the time of an item."""

    def __post_init__(self) -> None:
        if self.claim_min > self.claim_max:
            raise ValueError("claim_min is above claim_max")
        if self.lock_floor_s > self.lock_cap_s:
            raise ValueError("lock_floor_s is above lock_cap_s")


class ClaimSizer:
    """Sizes claims to about `target_slice_s` of work, less after failures or under load."""

    SPIKE = 0.5
    """Share of failed attempts above which claims shrink."""
    RETRY_SHARE = 1 / 16
    """The share of each claim that goes to due retries while there are rows not yet tried.

    All other rows pay for it. So it is smaller where retries have failed again.
    """
    RETRY_SHARE_IN_VAIN = 1 / 64
    IN_VAIN = 0.1
    """Share of retries that end a row, below which retries are in vain."""

    def __init__(self, policy: ClaimPolicy, concurrency: int) -> None:
        self._policy = policy
        self._concurrency = concurrency
        self._item_s = Ewma()
        self._failed = Ewma(0.05)
        self._helped = Ewma(0.1)
        self._helped.add(1.0)
        self._pressed = False

    def ended(self, seconds: float, *, failed: bool, again: bool = False) -> None:
        """An attempt has ended; `again`: the item had been tried before."""
        self._item_s.add(seconds)
        self._failed.add(1.0 if failed else 0.0)
        if again:
            self._helped.add(0.0 if failed else 1.0)

    @property
    def retry_share(self) -> float:
        helped = self._helped.value or 0.0
        return self.RETRY_SHARE if helped >= self.IN_VAIN else self.RETRY_SHARE_IN_VAIN

    def pressed(self, *, pressed: bool) -> None:
        self._pressed = pressed

    def size(self) -> int:
        """Items to claim now. Unknown work starts with two for each lane."""
        policy = self._policy
        item_s = self._item_s.value
        if item_s is None:
            wanted = 2.0 * self._concurrency
        else:
            lanes_s = max(item_s, 1e-6) / self._concurrency
            wanted = policy.target_slice_s / lanes_s * policy.safety_factor
        if (self._failed.value or 0.0) > self.SPIKE:
            wanted /= 4
        if self._pressed:
            wanted /= 4
        return int(min(max(wanted, policy.claim_min), policy.claim_max))

    def ttl_s(self) -> float:
        """Seconds that a silent worker keeps its items: twice an item's time, within the bounds."""
        wanted = 2.0 * (self._item_s.value or 0.0)
        return min(max(wanted, self._policy.lock_floor_s), self._policy.lock_cap_s)


class IngestPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Bounds for ingest batches, and the commit times that they aim at."""

    min_rows: Count = 64
    """Rows in the first batch, and in the smallest."""
    max_rows: Count = 4_096
    """Rows in the largest batch."""
    max_batch_bytes: Count = 4 * 1024 * 1024
    """Bytes of the source in one batch, about."""
    db_p50_ms: Milliseconds = 150.0
    """Batches grow while commits take less than this on average."""
    db_p95_ms: Milliseconds = 500.0
    """A commit that takes longer than this halves the next batch."""

    def __post_init__(self) -> None:
        if self.min_rows > self.max_rows:
            raise ValueError("min_rows is above max_rows")
        if self.db_p50_ms > self.db_p95_ms:
            raise ValueError("db_p50_ms is above db_p95_ms")


class IngestSizer:
    """Batches double while the database keeps up and shrink when it does not."""

    def __init__(self, policy: IngestPolicy) -> None:
        self._policy = policy
        self._latency_ms = Ewma(0.3)
        self.rows = policy.min_rows

    @property
    def max_bytes(self) -> int:
        return self._policy.max_batch_bytes

    @property
    def latency_ms(self) -> float:
        return self._latency_ms.value or 0.0

    def committed(self, milliseconds: float, *, waited: bool = False) -> None:
        """A batch was stored; `waited`: it had to queue for a connection."""
        mean = self._latency_ms.add(milliseconds)
        if waited or milliseconds > self._policy.db_p95_ms:
            self._resize(0.5)
        elif mean < self._policy.db_p50_ms:
            self._resize(2.0)

    def failed(self) -> None:
        self._resize(0.25)

    def _resize(self, factor: float) -> None:
        wanted = int(self.rows * factor)
        self.rows = min(max(wanted, self._policy.min_rows), self._policy.max_rows)
