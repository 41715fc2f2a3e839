"""A report of a job's requests to a provider, from its recorded calls: fit to be sent there."""

from collections import Counter

import msgspec

from headgate.core.call import Call, CallKind

SECOND_US = 1_000_000
MINUTE_S = 60
ASKED = frozenset({CallKind.FETCHED, CallKind.REVALIDATED, CallKind.REFUSED, CallKind.FAILED})
"""Calls that reached the network, or tried to."""
HONOURED = ("retry-after", "crawl-delay")
"""Prefixes of the causes of waits that the server had asked for."""


class Conduct(msgspec.Struct, frozen=True):
    name: str
    requests: int
    refused: int
    failed: int
    confirmed: int
    """Answered with 304: the body was not sent again."""
    spared: int
    """Answered by the cache, without a request."""
    barred: int
    bytes: int
    peak_per_s: int
    peak_per_min: int
    mean_per_s: float
    first_us: int
    last_us: int
    honouring_s: int
    """Seconds in which at least one request waited because the server had asked for it."""
    waited_s: float
    """Seconds that all requests waited at gates, added up."""

    @property
    def refused_share(self) -> float:
        return self.refused / self.requests if self.requests else 0.0


class Account:
    """Adds up calls; memory grows with the seconds that a job took, not with its calls."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._kinds: Counter[CallKind] = Counter()
        self._per_second: Counter[int] = Counter()
        self._honouring: set[int] = set()
        self._bytes = 0
        self._waited_ms = 0.0
        self._first_us: int | None = None
        self._last_us = 0

    def add(self, call: Call) -> None:
        self._kinds[call.kind] += 1
        self._waited_ms += call.waited_ms
        if call.kind not in ASKED or (call.kind is CallKind.FAILED and not call.ran_ms):
            return
        self._bytes += call.bytes
        self._per_second[call.at_us // SECOND_US] += 1
        self._first_us = min(call.at_us, self._first_us or call.at_us)
        self._last_us = max(call.at_us, self._last_us)
        if call.cause.startswith(HONOURED):
            began_us = call.at_us - int(call.waited_ms * 1_000)
            self._honouring.update(range(began_us // SECOND_US, call.at_us // SECOND_US))

    def conduct(self) -> Conduct:
        kinds = self._kinds
        requests = sum(self._per_second.values())
        first_us = self._first_us or 0
        seconds = max((self._last_us - first_us) / SECOND_US, 1.0)
        return Conduct(
            name=self.name,
            requests=requests,
            refused=kinds[CallKind.REFUSED],
            failed=kinds[CallKind.FAILED],
            confirmed=kinds[CallKind.REVALIDATED],
            spared=kinds[CallKind.CACHED] + kinds[CallKind.SHARED],
            barred=kinds[CallKind.BARRED],
            bytes=self._bytes,
            peak_per_s=max(self._per_second.values(), default=0),
            peak_per_min=self._peak_per_min(),
            mean_per_s=requests / seconds,
            first_us=first_us,
            last_us=self._last_us,
            honouring_s=len(self._honouring),
            waited_s=self._waited_ms / 1_000,
        )

    def _peak_per_min(self) -> int:
        """The most requests in any sixty consecutive seconds."""
        peak = current = 0
        seconds = sorted(self._per_second)
        oldest = 0
        for second in seconds:
            current += self._per_second[second]
            while seconds[oldest] <= second - MINUTE_S:
                current -= self._per_second[seconds[oldest]]
                oldest += 1
            peak = max(peak, current)
        return peak


class Politeness:
    def __init__(self, *, by_host: bool = False) -> None:
        self._by_host = by_host
        self._accounts: dict[str, Account] = {}

    def add(self, call: Call) -> None:
        name = call.host if self._by_host or not call.provider else call.provider
        account = self._accounts.get(name)
        if account is None:
            account = self._accounts[name] = Account(name)
        account.add(call)

    def conducts(self) -> list[Conduct]:
        """One record for each provider, the one with the most requests first."""
        found = [account.conduct() for account in self._accounts.values()]
        return sorted(found, key=lambda conduct: (-conduct.requests, conduct.name))
