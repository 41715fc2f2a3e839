"""A server with something of everything, so that no screen is empty."""

import json
from typing import NamedTuple

from tests.browser.sample_mirrors import SampleMirrors, create_sample_mirrors
from tests.kit.api_server import ApiServer, Caller, rows_csv
from tests.kit.command import until
from tests.kit.price_service import PriceService
from tests.kit.record_shop import RecordShop

DEEDS = ("fail", "missing", "review", "skip")
ANSWERS = 120
"""The service closes in the midst of a job."""
READ = ("QUEUED", "RUNNING")
"""Before a closed gate nothing is claimed, so that a job may stay queued."""
WORDS = ("river", "bank", "bow", "delta", "estuary", "1984", "zzz", "a b", "meander", "oxbow")


class SampleJobs(NamedTuple):
    """What is there, by name."""

    admin: Caller
    every: str
    """A job with every outcome."""
    reviewed: str
    """One of its items, with candidates to choose from."""
    asked: str
    """A job that asked the service, and has an export."""
    failed: str
    """One of its items, in ERROR."""
    waiting: str
    """A job whose items wait for the service."""
    waits: str
    """One of those items."""
    gate: str
    """What stands before the service."""
    mirrors: SampleMirrors


def create_sample_jobs(api: ApiServer, shop: PriceService) -> SampleJobs:
    """Fill an empty server; the service is closed afterwards."""
    admin = api.admin()
    with RecordShop() as records:
        mirrors = create_sample_mirrors(admin, records)
    api.user("ann", password="correct horse battery")
    admin.post("/api/tokens", {"label": "nightly import", "role": "user"}).ok(201)
    deeds = {f"r{n}": DEEDS[n % len(DEEDS)] for n in range(3, 23)}
    every = admin.done(rows_csv(400, **deeds), name="Catalogue 2026")
    words = [{"word": word} for word in WORDS]
    sample = {"handler": "sample.words", "key": "word", "items": words, "name": "Words of rivers"}
    admin.ended(admin.post("/api/jobs", sample).ok(202)["jobId"])
    shop.open = True
    config = json.dumps({"service": shop.base_url})
    asked = admin.done(rows_csv(60), handler="shop.ask", config=config, name="Prices, March")
    admin.post(f"/api/jobs/{asked}/export", format="csv").ok(202)
    shop.tired_after = ANSWERS
    waiting = admin.send(rows_csv(1_000), handler="shop.ask", config=config, name="Prices, April")
    until(lambda: shop.turned_away > 0, what="the service to close")
    for name, move in (("Prices, May", "pause"), ("Prices, a test", "cancel")):
        job = admin.send(rows_csv(80), handler="shop.ask", config=config, name=name)
        admin.reached(job, *READ)
        admin.post(f"/api/jobs/{job}/{move}").ok()
    return SampleJobs(
        admin,
        every,
        _first(admin, every, "REVIEW"),
        asked,
        failed=_first(admin, asked, "ERROR"),
        waiting=waiting,
        waits=_first(admin, waiting, "PENDING"),
        gate=_gate(admin, shop),
        mirrors=mirrors,
    )


def _gate(admin: Caller, shop: PriceService) -> str:
    gates = admin.get("/api/providers").ok()["items"]
    (found,) = (gate["key"] for gate in gates if shop.place in gate["key"])
    return str(found)


def _first(admin: Caller, job: str, status: str) -> str:
    found: list[str] = []

    def is_there() -> bool:
        found.extend(item["id"] for item in admin.items(job, statuses=status))
        return bool(found)

    until(is_there, what=f"an item in {status}")
    return found[0]
