"""After any requests, changes and waits, the cache agrees with a dictionary."""

import asyncio
import hashlib
import tempfile
from email.utils import formatdate
from pathlib import Path
from typing import NamedTuple

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from headgate.core.call import CallKind
from headgate.core.provider import CachePolicy
from headgate.net.cache import CallerBody, HttpCache
from headgate.net.fields import folded
from headgate.ports.wire import WireRequest
from headgate.testing import FakeClock
from headgate.transfer.blobs import LocalBlobs
from tests.unit.net.cache.conftest import read

SECOND = 1_000_000
URLS = st.sampled_from(["http://a/1", "http://a/2"])
WHO = st.sampled_from(["ann", "bob"])
TONGUE = st.sampled_from(["de", "fr"])
CACHES = st.sampled_from([0, 1])
POLICY = CachePolicy(default_ttl_s=20)


class Page(NamedTuple):
    """What the server has at a URL."""

    version: int = 0
    max_age_s: int | None = 60
    etag: bool = True
    varies: bool = False
    large: bool = False

    def body(self, url, tongue):
        text = f"{url} {self.version} {tongue if self.varies else ''} "
        return text.encode() * (2_000 if self.large else 1)


class Kept(NamedTuple):
    """What the cache should have."""

    body: bytes
    fresh_until: int
    tag: str | None


class Reply:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self._body = body

    async def chunks(self):
        for place in range(0, len(self._body), 10_000):
            yield self._body[place : place + 10_000]

    async def close(self):
        pass


class CacheAgainstModel(RuleBasedStateMachine):
    """Two processes on one folder, two users, two languages, and a server that changes."""

    def __init__(self):
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory()
        self.clock = self.run(self.make_clock())
        self.blobs = LocalBlobs(Path(self.folder.name) / "blobs", self.clock, durable=False)
        self.caches = [self.open_cache(), self.open_cache()]
        self.pages: dict[str, Page] = {}
        self.kept: dict[tuple[str, str, str], Kept] = {}
        self.warnings: list[str] = []

    async def make_clock(self):
        return FakeClock()

    def open_cache(self):
        cache = HttpCache(
            Path(self.folder.name),
            self.blobs,
            self.clock,
            warn=lambda event, **facts: self.warnings.append(event),
        )
        return self.run(cache.__aenter__())

    def run(self, verb):
        return self.loop.run_until_complete(verb)

    def teardown(self):
        for cache in self.caches:
            self.run(cache.__aexit__(None, None, None))
        self.run(self.blobs.close())
        self.run(self.loop.shutdown_default_executor())
        self.loop.close()
        self.folder.cleanup()

    def page(self, url):
        return self.pages.get(url, Page())

    async def send(self, request):
        """The server."""
        page, fields = self.page(request.url), folded(request.headers)
        headers = [("date", formatdate(self.clock.now() // SECOND, usegmt=True))]
        tag = f'"{page.version}"' if page.etag else None
        if tag:
            headers.append(("etag", tag))
        if page.varies:
            headers.append(("vary", "accept-language"))
        if page.max_age_s is not None:
            headers.append(("cache-control", f"max-age={page.max_age_s}"))
        if tag and fields.get("if-none-match") == tag:
            return Reply(304, headers, b"")
        return Reply(200, headers, page.body(request.url, fields["accept-language"]))

    def ask(self, number, method, url, who, tongue, *more):
        request = WireRequest(method, url, (("accept-language", tongue), *more))
        cache = self.caches[number]
        reply = self.run(cache.fetch(request, self.send, partition=who, policy=POLICY))
        got = self.run(read(reply))
        self.run(cache.flush())
        return got

    def expect(self, url, who, tongue, *, insist):
        """What the cache should say to a GET, noted in the model."""
        page, now = self.page(url), self.clock.now()
        place = next((p for p in ((url, who, ""), (url, who, tongue)) if p in self.kept), None)
        known = self.kept.get(place)
        if known and now < known.fresh_until and not insist:
            return CallKind.CACHED, known.body
        tag = f'"{page.version}"' if page.etag else None
        age_s = POLICY.default_ttl_s if page.max_age_s is None else page.max_age_s
        fresh_until = now + int(age_s) * SECOND
        if known and known.tag and known.tag == tag:
            self.kept[place] = known._replace(fresh_until=fresh_until)
            return CallKind.REVALIDATED, known.body
        body = page.body(url, tongue)
        if tag or age_s:
            target = (url, who, tongue if page.varies else "")
            self.kept[target] = Kept(body, fresh_until, tag)
        return CallKind.FETCHED, body

    @rule(number=CACHES, url=URLS, who=WHO, tongue=TONGUE, insist=st.booleans())
    def get(self, number, url, who, tongue, insist):
        expected = self.expect(url, who, tongue, insist=insist)
        more = [("cache-control", "no-cache")] if insist else []
        got = self.ask(number, "GET", url, who, tongue, *more)
        assert (got.kind, got.body) == expected

    @rule(number=CACHES, url=URLS, who=WHO, refetch=st.booleans(), safe=st.booleans())
    def download(self, number, url, who, refetch, safe):
        """A body that the caller keeps, or fails to; instead of it the cache has his note."""
        before = dict(self.kept)
        viewer = f"{who}'s files"
        if refetch:
            self.kept = {
                place: kept for place, kept in before.items() if place[:2] != (url, viewer)
            }
        kind, body = self.expect(url, viewer, "de", insist=False)
        note = hashlib.sha256(body).hexdigest()
        # What may not be kept, or was not, leaves the last one where it is.
        lost = kind is CallKind.FETCHED and not safe
        self.kept = before if lost else before | self.kept
        got = self.run(self.take(number, url, CallerBody(viewer, refetch), note if safe else None))
        assert got == ((kind, body, "") if kind is CallKind.FETCHED else (kind, b"", note))

    async def take(self, number, url, caller_body, note):
        cache, request = self.caches[number], WireRequest("GET", url, (("accept-language", "de"),))
        reply = await cache.fetch(
            request, self.send, partition="all", policy=POLICY, caller_body=caller_body
        )
        body = b"".join([chunk async for chunk in reply.chunks()])
        if reply.kind is CallKind.FETCHED and note is not None:
            await reply.keep(note)
        await reply.close()
        await cache.flush()
        return reply.kind, body, reply.kept

    @rule(number=CACHES, url=URLS, who=WHO)
    def post(self, number, url, who):
        self.ask(number, "POST", url, who, "de")
        self.kept = {place: kept for place, kept in self.kept.items() if place[0] != url}

    @rule(
        url=URLS, age_s=st.sampled_from([0, 1, 60, None]), etag=st.booleans(), large=st.booleans()
    )
    def change_page(self, url, age_s, etag, large):
        page = self.page(url)
        self.pages[url] = page._replace(
            version=page.version + 1, max_age_s=age_s, etag=etag, large=large
        )

    @rule(url=URLS, number=CACHES)
    def vary(self, url, number):
        """A server that begins to vary is a new page; what was kept of the old one is dropped."""
        self.post(number, url, "ann")
        page = self.page(url)
        self.pages[url] = page._replace(version=page.version + 1, varies=not page.varies)

    @rule(seconds=st.sampled_from([1, 19, 59, 3_600, 5_000]))
    def wait(self, seconds):
        self.run(self.clock.advance(seconds))

    @rule(number=CACHES)
    def restart(self, number):
        self.run(self.caches[number].__aexit__(None, None, None))
        self.caches[number] = self.open_cache()

    @rule(number=CACHES)
    def sweep(self, number):
        self.run(self.caches[number].sweep())

    @invariant()
    def nothing_is_wrong(self):
        assert self.warnings == []


TestCacheAgainstModel = CacheAgainstModel.TestCase
TestCacheAgainstModel.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)
