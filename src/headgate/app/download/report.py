"""Report on a download job: outcomes, reasons and requests, from one pass over its items."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from headgate.app.download.manifest import last_visit, manifest_line
from headgate.core.call import Call, CallKind, decode_calls
from headgate.core.download_folder import FinalOutcome, ManifestLine
from headgate.core.politeness import ASKED, Conduct, Politeness
from headgate.ports.jobs import HistoryStore, ItemHistory

PAGE = 1_000
MOST_REASONS = 1_000
"""Reasons that are counted separately; the rest are counted together."""
OTHERS = "(others)"
NOBODY = "-"
"""Shown as the resolver of items without a decisive plan."""


class ResolverShare(msgspec.Struct):
    resolver: str
    done: int = 0
    skipped: int = 0
    not_found: int = 0
    error: int = 0
    bytes: int = 0
    """Bytes of the files that it led to."""

    @property
    def items(self) -> int:
        return self.done + self.skipped + self.not_found + self.error


class ReasonShare(msgspec.Struct, frozen=True):
    outcome: FinalOutcome
    reason: str
    """Code of the reason, without details of single items."""
    items: int


class HostTraffic(msgspec.Struct):
    requests: int = 0
    fetched: int = 0
    confirmed: int = 0
    """Replies with status 304, without a body."""
    cached: int = 0
    """Answers from the cache, without a request."""
    refused: int = 0
    failed: int = 0
    barred: int = 0
    """Requests not sent, because robots.txt does not allow them."""
    bytes: int = 0
    waited_s: float = 0.0

    @property
    def cache_ratio(self) -> float:
        """Share of answers without a request."""
        return self.cached / self.answers if self.answers else 0.0

    @property
    def revalidation_ratio(self) -> float:
        """Share of answers with a request and no body."""
        return self.confirmed / self.answers if self.answers else 0.0

    @property
    def answers(self) -> int:
        return self.fetched + self.confirmed + self.cached

    def add(self, call: Call) -> None:
        self.waited_s += call.waited_ms / 1_000
        if call.kind in ASKED:
            self.requests += 1
            self.bytes += call.bytes
        match call.kind:
            case CallKind.FETCHED:
                self.fetched += 1
            case CallKind.REVALIDATED:
                self.confirmed += 1
            case CallKind.CACHED | CallKind.SHARED:
                self.cached += 1
            case CallKind.REFUSED:
                self.refused += 1
            case CallKind.FAILED:
                self.failed += 1
            case CallKind.BARRED:
                self.barred += 1


class Report(msgspec.Struct, frozen=True):
    items: int
    unfinished: int
    resolvers: Sequence[ResolverShare]
    reasons: Sequence[ReasonShare]
    latest: HostTraffic
    """Requests since each item was last requeued."""
    traffic: HostTraffic
    """All requests."""
    hosts: Sequence[Conduct]


async def report_of(history: HistoryStore, job_id: int) -> Report:
    account = _Account()
    after_id = 0
    while page := await history.page(job_id, after_id, PAGE):
        for each in page:
            account.add(each)
        after_id = page[-1].row.id
    return account.report()


class _Account:
    """Sums; memory grows with resolvers, hosts, reasons and seconds, not with items."""

    def __init__(self) -> None:
        self._items = 0
        self._unfinished = 0
        self._resolvers: dict[str, ResolverShare] = {}
        self._reasons: Counter[tuple[FinalOutcome, str]] = Counter()
        self._latest = HostTraffic()
        self._traffic = HostTraffic()
        self._politeness = Politeness(by_host=True)

    def add(self, history: ItemHistory) -> None:
        self._items += 1
        line = manifest_line(history)
        if line is None:
            self._unfinished += 1
        else:
            self._add_outcome(line)
        self._add_traffic(history)

    def _add_outcome(self, line: ManifestLine) -> None:
        name = line.resolver or NOBODY
        share = self._resolvers.setdefault(name, ResolverShare(name))
        setattr(share, line.outcome, getattr(share, line.outcome) + 1)
        share.bytes += line.bytes or 0
        if line.reason:
            reason = (line.outcome, line.reason.partition(":")[0])
            if reason not in self._reasons and len(self._reasons) >= MOST_REASONS:
                reason = (line.outcome, OTHERS)
            self._reasons[reason] += 1

    def _add_traffic(self, history: ItemHistory) -> None:
        latest = len(history.attempts) - len(last_visit(history.attempts))
        for number, attempt in enumerate(history.attempts):
            for call in decode_calls(attempt.calls):
                self._politeness.add(call)
                self._traffic.add(call)
                if number >= latest:
                    self._latest.add(call)

    def report(self) -> Report:
        resolvers = sorted(self._resolvers.values(), key=lambda each: (-each.items, each.resolver))
        reasons = sorted(self._reasons.items(), key=lambda each: (-each[1], each[0]))
        return Report(
            items=self._items,
            unfinished=self._unfinished,
            resolvers=resolvers,
            reasons=[ReasonShare(*reason, items) for reason, items in reasons],
            latest=self._latest,
            traffic=self._traffic,
            hosts=self._politeness.conducts(),
        )
