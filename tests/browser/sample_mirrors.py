"""Mirrors of every kind on a server, so that no screen is empty."""

from typing import NamedTuple

from tests.kit.api_server import Caller
from tests.kit.record_shop import RecordShop


class SampleMirrors(NamedTuple):
    mirror: str
    """Two complete passes, with changes between them, and a third that has a failed page."""
    stream: str
    """The artists, which changed."""
    first: str
    second: str
    third: str


def create_sample_mirrors(admin: Caller, shop: RecordShop) -> SampleMirrors:
    """Mirror the shop three times; the last pass cannot fetch one page."""
    mirror, first = mirrored(admin, shop)
    shop.change()
    second = again(admin, mirror)
    shop.broken = {50}
    third = again(admin, mirror)
    shown = admin.get(f"/api/mirrors/{mirror}").ok()
    streams = {each["name"]: each["id"] for each in shown["streams"]}
    return SampleMirrors(mirror, streams["artists"], first, second, third)


def mirrored(caller: Caller, shop: RecordShop) -> tuple[str, str]:
    """Make the first pass over the shop; return the mirror and the pass."""
    begun = caller.post("/api/mirrors", {"source": shop.source(), "name": "records"}).ok(202)
    caller.ended(begun["jobId"])
    return begun["mirrorId"], begun["jobId"]


def again(caller: Caller, mirror: str) -> str:
    """Make one more full pass, and return it."""
    begun = caller.post(f"/api/mirrors/{mirror}/passes", {"full": True}).ok(202)
    caller.ended(begun["jobId"])
    return str(begun["jobId"])
