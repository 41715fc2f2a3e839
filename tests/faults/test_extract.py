"""Faults in the middle of a pass: no row is lost, no committed page is fetched again."""

import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from urllib.parse import parse_qs, urlsplit

import pytest

from headgate.core.status import ItemStatus
from tests.faults.conftest import SETTINGS
from tests.faults.matrix import FULL_SIZE
from tests.kit.answers import Answer, Request, refusal
from tests.kit.command import Command, until
from tests.kit.extraction import FAST, Extraction, summary
from tests.kit.filesystems import mounted, needs_root, remount
from tests.kit.looker import LookerServer
from tests.kit.postgres import PostgresServer, StopMode
from tests.kit.project import Project
from tests.kit.source_faults import at_request, failing, limiting

PAGES = 200
PAGE_ROWS = 10
STRIDE = PAGE_ROWS - 1
"""Neighbouring pages overlap by one row."""
USERS = PAGES * STRIDE
LANES = 8
STORES = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]
STORMS = [
    pytest.param(3, id="short"),
    pytest.param(20, id="full", marks=FULL_SIZE),
]


@pytest.fixture
def looker() -> Iterator[LookerServer]:
    with LookerServer(rows=0) as server:
        server.put("users", *({"id": str(each), "name": f"User {each}"} for each in ids(USERS)))
        yield server


def ids(count: int) -> range:
    """The even numbers: odd ones are free for rows that come later, in between."""
    return range(2, 2 * count + 1, 2)


def users_of(project: Project, looker: LookerServer) -> Extraction:
    project.environment = looker.environment
    return Extraction(project, "looker", "users", "--batch-size", str(PAGE_ROWS), *FAST)


def assert_mirrored(source: Extraction, looker: LookerServer) -> None:
    assert source.live("users") == {row["id"]: row for row in looker.rows("users")}
    source.project.assert_clean()


def offset_of(target: str) -> int:
    return int(parse_qs(urlsplit(target).query)["offset"][0])


def served(looker: LookerServer, since_s: float = 0.0) -> Counter[int]:
    """How often each page was given, by its offset, of requests that came after a moment."""
    return Counter(
        offset_of(seen.request.target)
        for seen in looker.seen
        if "/users/" in seen.request.path and seen.status == 200 and seen.arrived_s > since_s
    )


class Hold:
    """Leaves requests without an answer from the `most + 1`th on, so that no kill comes late."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.asked = 0

    def __call__(self, request: Request) -> Answer | None:
        self.asked += 1
        return Answer(silent=True) if self.asked > self.most else None


def wait_for_page(hold: Hold, command: Command, number: int) -> None:
    until(lambda: hold.asked >= number or not command.running, what=f"page {number}")
    assert command.running, command.talk


# ---- kill -9 --------------------------------------------------------------------------------


@pytest.mark.parametrize("kills", STORMS)
def test_a_killed_pass_fetches_no_committed_page_again(
    project: Project, looker: LookerServer, kills: int
):
    source = users_of(project, looker)
    looker.delay_s = 0.005
    hold = Hold(0)
    looker.faults = [hold]
    rng = Random(f"{project.url[:6]} {kills}")
    committed: dict[float, set[int]] = {}
    for moment in sorted(rng.sample(range(1, PAGES * 9 // 10), kills)):
        hold.most = moment + rng.randrange(LANES)
        with source.start() as command:
            wait_for_page(hold, command, moment)
            command.kill()
        hold.asked = hold.most = len(done := done_pages(project))
        committed[time.monotonic()] = done

    looker.faults = []
    done_now = source.complete()
    assert done_now.proofs == {"users": "covered"}
    assert_mirrored(source, looker)
    for moment_s, pages in committed.items():
        assert not pages & served(looker, since_s=moment_s).keys()
    items = project.assert_finished(PAGES + 1)  # the closing is an item too
    assert {(item.status, item.crashes) for item in items} == {(ItemStatus.DONE, 0)}


def done_pages(project: Project) -> set[int]:
    """The offsets of pages that were committed."""
    if not project.jobs():
        return set()
    done = [item.key for item in project.items() if item.status is ItemStatus.DONE]
    return {0 if key.endswith("/first") else int(key.rpartition("=")[2]) for key in done}


def test_a_killed_worker_costs_only_pages_in_flight(sqlite_project: Project, looker: LookerServer):
    source = users_of(sqlite_project, looker)
    looker.delay_s = 0.005
    hold = Hold(PAGES // 2)
    looker.faults = [hold]
    with source.start() as command:
        wait_for_page(hold, command, PAGES // 2 + LANES)
        committed = done_pages(sqlite_project)
        moment_s = time.monotonic()
        os.kill(command.workers[0].pid, signal.SIGKILL)
        looker.faults = []
        done = summary(command.wait())
    assert done.code == 0, done.talk
    assert_mirrored(source, looker)
    assert not committed & served(looker, since_s=moment_s).keys()


# ---- pages that fail, and refusals -----------------------------------------------------------


def test_a_page_that_always_fails_deletes_nothing_and_its_retry_closes_the_stream(
    project: Project, looker: LookerServer
):
    looker.remove("users", *(str(each) for each in ids(USERS) if each > 100))
    source = users_of(project, looker)
    source.complete()
    looker.remove("users", "6")
    looker.faults = [failing(f"offset={2 * STRIDE}&")]
    failed = source.run()
    assert failed.code == 3, failed.talk
    assert "nothing was deleted" in failed.talk
    assert list(source.errors(2)) == [f"users/offset={2 * STRIDE}"]
    assert source.checkpoint("users", 2).completed_at is None
    assert "6" in source.live("users")
    assert source.deleted("users") == set()
    report = project.invoke("extract", "show", "2", "--json").json["report"]
    assert sum(each["errors"] for each in report["errors_by_worker"]) >= 1

    looker.faults = []
    before_s = time.monotonic()
    healed = source.complete()
    assert healed.said["pass_id"] == 2
    assert served(looker, since_s=before_s) == {2 * STRIDE: 1}
    assert source.deleted("users") == {"6"}
    assert_mirrored(source, looker)


def test_a_storm_of_refusals_costs_no_page_an_attempt(
    sqlite_project: Project, looker: LookerServer
):
    looker.remove("users", *(str(each) for each in ids(USERS) if each > 1_000))
    source = users_of(sqlite_project, looker)
    looker.faults = [limiting(60, burst=5)]
    source.complete()
    assert_mirrored(source, looker)
    assert any(seen.status == 429 for seen in looker.seen)
    assert {item.attempts for item in sqlite_project.items()} == {1}
    assert set(served(looker).values()) == {1}


def test_a_token_that_ends_under_eight_lanes_is_renewed_once(
    sqlite_project: Project, looker: LookerServer
):
    source = users_of(sqlite_project, looker)
    looker.delay_s = 0.02
    looker.faults = [at_request(PAGES // 2, looker.expire_tokens)]
    source.complete("--workers", str(LANES))
    assert_mirrored(source, looker)
    assert looker.logins == 2
    assert any(seen.status == 401 for seen in looker.seen)
    assert {item.attempts for item in sqlite_project.items()} == {1}


# ---- rows that come and go between pages ------------------------------------------------------


class Churn:
    """Adds or removes a few rows before each request is answered."""

    def __init__(self, looker: LookerServer, seed: int) -> None:
        self._looker = looker
        self._rng = Random(seed)
        self.removed: set[str] = set()

    def __call__(self, request: Request) -> Answer | None:
        if "/users/" in request.path and self._rng.random() < 0.7:
            self._change()
        return None

    def _change(self) -> None:
        if self._rng.random() < 0.5:
            place = str(self._rng.randrange(1, 2 * USERS, 2))
            self._looker.put("users", {"id": place, "name": "Late"})
            return
        gone = self._rng.choice(self._looker.rows("users"))["id"]
        self._looker.remove("users", gone)
        self.removed.add(gone)


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=FULL_SIZE) for seed in range(2, 42))]
)
def test_a_proven_pass_has_every_row_that_stayed(
    sqlite_project: Project, looker: LookerServer, seed: int
):
    looker.remove("users", *(str(each) for each in ids(USERS) if each > 600))
    source = users_of(sqlite_project, looker)
    source.complete()
    before = {row["id"] for row in looker.rows("users")}
    churn = Churn(looker, seed)
    looker.faults = [churn]
    done = source.run()
    stayed = before - churn.removed
    assert len(stayed) < len(before)
    assert stayed <= source.live("users").keys()
    assert not stayed & source.deleted("users")
    if done.proofs["users"] == "unproven":
        assert done.code == 3
        assert source.deleted("users") == set()
    else:
        assert (done.code, done.proofs) == (0, {"users": "covered"})


# ---- two at once ------------------------------------------------------------------------------


def test_two_commands_for_one_mirror_share_its_pass(project: Project, looker: LookerServer):
    source = users_of(project, looker)
    looker.faults = [lambda _: refusal("1")]
    with source.start() as one:
        until(lambda: looker.seen or not one.running, what="the first page")
        with source.start() as other:
            until(lambda: len(project.workers()) == 2 or not other.running, what="both workers")
            refused = project.run("extract", "looker", "users", "--batch-size", "10", "--new")
            assert refused.code == 2, refused.err
            assert "at work" in refused.err
            looker.faults = []
            ended = [summary(each.wait()) for each in (one, other)]
    assert [each.code for each in ended] == [0, 0], [each.talk for each in ended]
    assert {each.said["pass_id"] for each in ended} == {1}
    assert set(served(looker).values()) == {1}
    assert_mirrored(source, looker)


# ---- the store fails --------------------------------------------------------------------------

RESTARTS: list[tuple[int, StopMode]] = [(PAGES // 4, "fast"), (PAGES // 2, "immediate")]


@pytest.mark.postgres
def test_a_pass_outlasts_restarts_of_postgresql(
    tmp_path: Path, own_server: PostgresServer, looker: LookerServer
):
    url = own_server.url(own_server.create_database())
    project = Project(tmp_path, url, SETTINGS)
    source = users_of(project, looker)
    looker.delay_s = 0.02
    hold = Hold(PAGES * 10)
    looker.faults = [hold]
    with source.start() as command:
        for moment, mode in RESTARTS:
            wait_for_page(hold, command, moment)
            own_server.restart(mode)
        done = summary(command.wait())
    assert done.code == 0, done.talk
    assert "Traceback" not in done.talk
    assert_mirrored(source, looker)
    # Nothing died, so nothing had to be fetched again.
    assert set(served(looker).values()) == {1}


@needs_root
def test_a_full_disk_ends_a_pass_resumable(tmp_path: Path, looker: LookerServer):
    wide = ({"id": str(each), "name": "x" * 4_000} for each in ids(USERS))
    looker.put("users", *wide)
    with mounted(tmp_path / "disk", "-t", "tmpfs", "-o", "size=4m", "tmpfs") as disk:
        project = Project(tmp_path, f"sqlite:///{disk}/headgate.db", SETTINGS)
        source = users_of(project, looker)
        project.environment |= {"TMPDIR": str(disk)}
        with source.start() as command:
            ended = command.wait()
        assert ended.code == 4, ended.err
        assert "no space left" in ended.err
        assert "Traceback" not in ended.err
        remount(disk, "size=60m")
        committed = done_pages(project)
        assert committed
        before_s = time.monotonic()
        source.complete()
        assert not committed & served(looker, since_s=before_s).keys()
        assert_mirrored(source, looker)
