"""Mirrors of a paginated API, as a user makes them with the real command."""

import csv
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.api_server import ApiServer
from tests.kit.cli import Cli, Said
from tests.kit.listing_service import SOURCE, ListingService, book
from tests.kit.local_and_remote import LocalAndRemote
from tests.kit.provider import wait_until

pytestmark = pytest.mark.slow


@pytest.fixture
def service() -> Iterator[ListingService]:
    with ListingService() as service:
        yield service


@pytest.fixture
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """On SQLite, unless the test asks for both stores."""
    if getattr(request, "param", "sqlite") == "postgres":
        url: str = request.getfixturevalue("postgres_url")
        return url
    return f"sqlite:///{tmp_path}/headgate.db"


BOTH_STORES = pytest.mark.parametrize(
    "store_url",
    ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)],
    indirect=True,
)
"""For what a store decides: the conformance suite runs the rest on both."""


@pytest.fixture
def cli(store_url: str, tmp_path: Path, service: ListingService) -> Cli:
    cli = Cli(tmp_path, {"HEADGATE_DATABASE_URL": store_url})
    cli.write("shop.toml", SOURCE.replace("URL", service.url("")))
    return cli


def extracted(cli: Cli, *more: str) -> Said:
    return cli("extract", "shop.toml", "--json", "--quiet", *more)


def stream(said: Said, name: str = "books") -> dict[str, object]:
    return next(each for each in said.json["streams"] if each["stream"] == name)


def exported(cli: Cli, *more: str) -> list[dict[str, str]]:
    said = cli("extract", "export", "books", "--out", "-", *more)
    assert said.code == 0, said.err
    return list(csv.DictReader(said.out.splitlines()))


@BOTH_STORES
def test_the_first_pass_lists_everything_and_the_next_what_has_changed(
    cli: Cli, service: ListingService
):
    first = extracted(cli)
    assert first.code == 0, first.err
    assert (stream(first)["mode"], stream(first)["added"]) == ("full", 100)
    assert (stream(first)["proof"], stream(first, "authors")["proof"]) == ("covered", "chained")
    asked = len(service.requests)
    service.books[7] = book(7, day=2, title="Another title")
    service.books[101] = book(101, day=2)
    del service.books[8]
    second = extracted(cli)
    assert second.code == 0, second.err
    found = stream(second)
    assert (found["mode"], found["added"], found["changed"]) == ("incremental", 1, 1)
    assert "since=" in service.requests[-1]
    full = extracted(cli, "--full")
    assert stream(full)["live"] == 100
    assert asked > 1
    titles = {row["id"]: row["title"] for row in exported(cli)}
    assert titles == {str(key): row["title"] for key, row in service.books.items()}
    deleted = [row for row in exported(cli, "--deleted") if row["_deleted_at"]]
    assert [row["id"] for row in deleted] == ["8"]


def test_an_incremental_pass_deletes_nothing(cli: Cli, service: ListingService):
    extracted(cli)
    del service.books[50]
    assert extracted(cli).code == 0
    assert len(exported(cli)) == 100


@BOTH_STORES
def test_an_interrupted_pass_goes_on_with_the_pages_that_are_left(
    cli: Cli, service: ListingService
):
    service.open.clear()
    process = cli.start("extract", "shop.toml", "--json")
    with process:
        wait_until(lambda: service.under_way() >= 3)
        for _ in range(2):  # the second one takes back what waits for an answer
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 4, err
    assert json.loads(out)["left"] > 0
    assert "continue with: headgate extract shop.toml --json" in err
    service.open.set()
    before = len(service.requests)
    again = cli("extract", "shop.toml", "--json")
    assert again.code == 0, again.err
    assert "resuming pass 1 of shop" in again.err
    assert again.json["pass_id"] == 1
    assert stream(again)["proof"] == "covered"
    assert not any("offset=0" in each for each in service.requests[before:])


def test_a_pass_that_was_killed_goes_on(cli: Cli, service: ListingService):
    service.open.clear()
    with cli.start("extract", "shop.toml") as process:
        wait_until(lambda: service.under_way() >= 3)
        os.kill(process.pid, signal.SIGKILL)
        process.wait(60)
    service.open.set()
    again = extracted(cli)
    assert again.code == 0, again.err
    assert (again.json["pass_id"], stream(again)["added"]) == (1, 100)


@BOTH_STORES
def test_a_failed_page_leaves_its_stream_open_and_the_same_command_closes_it(
    cli: Cli, service: ListingService
):
    extracted(cli)
    del service.books[3]
    service.refused = {45}
    failed = cli("extract", "shop.toml", "--full", "--json")
    assert failed.code == 3
    assert (failed.json["failed"], stream(failed)["proof"]) == (1, None)
    assert "this page is broken" in failed.err
    assert len(exported(cli)) == 100
    service.refused = set()
    mended = extracted(cli, "--full")
    assert mended.code == 0, mended.err
    assert (mended.json["pass_id"], stream(mended)["proof"]) == (2, "covered")
    assert len(exported(cli)) == 99


def test_a_changed_description_announces_a_full_pass(cli: Cli, service: ListingService):
    extracted(cli)
    text = (cli.folder / "shop.toml").read_text()
    cli.write("shop.toml", text.replace('name = "books"', 'name = "books"\nignore = ["title"]'))
    said = cli("extract", "shop.toml", "--json")
    assert "every stream is listed in full" in said.err
    assert (stream(said)["mode"], said.code) == ("full", 0)
    assert service.requests


def test_other_streams_than_those_of_an_interrupted_pass_need_new(
    cli: Cli, service: ListingService
):
    service.refused = {18}
    assert extracted(cli).code == 3
    refused = extracted(cli, "authors")
    assert refused.code == 2
    assert "--new" in refused.err
    given_up = cli("extract", "shop.toml", "authors", "--new", "--json")
    assert given_up.code == 0, given_up.err
    assert [each["stream"] for each in given_up.json["streams"]] == ["authors"]


def test_the_dry_run_forecasts_and_stores_nothing(cli: Cli, service: ListingService):
    said = extracted(cli, "--dry-run", "--rate", "60/min")
    assert said.code == 0, said.err
    books = stream(said)
    assert (books["rows"], books["proof"], books["paging"]) == (100, "covered", "offset")
    assert 10 <= int(str(books["requests"])) <= 13
    assert 10 <= float(str(books["time_s"])) <= 13
    assert len(service.requests) == 1
    assert "there is no mirror yet" in cli("extract", "verify").err


def test_the_rate_and_the_batch_size_of_the_command_win(cli: Cli, service: ListingService):
    said = extracted(cli, "--batch-size", "50", "--rate", "1000/s")
    assert said.code == 0, said.err
    assert all("limit=50" in each for each in service.requests)
    assert len(service.requests) <= 4


def test_verify_proves_again_and_finds_what_the_source_has_now(cli: Cli, service: ListingService):
    extracted(cli)
    asked = len(service.requests)
    proven = cli("extract", "verify", "--json")
    assert (proven.code, len(service.requests)) == (0, asked)
    assert [each["found"] for each in proven.json["streams"]] == ["covered", "chained"]
    assert cli("extract", "verify", "--remote").code == 0
    del service.books[1]
    remote = cli("extract", "verify", "--remote", "--json")
    assert remote.code == 6
    assert "the source has 99 rows now" in " ".join(stream(remote)["problems"])  # type: ignore[arg-type]


def test_all_streams_are_exported_into_a_folder(cli: Cli):
    extracted(cli)
    said = cli("extract", "export", "shop", "--all", "--format", "jsonl", "--out", "copy", "--json")
    assert said.code == 0, said.err
    lines = (cli.folder / "copy" / "authors.jsonl").read_text().splitlines()
    assert [json.loads(line)["name"] for line in lines] == ["Ada", "Bob"]
    assert [each["rows"] for each in said.json["exports"]] == [100, 2]


def test_a_cancelled_pass_is_over_and_its_rows_stay(cli: Cli, service: ListingService):
    service.refused = {45}
    service.open.clear()
    with cli.start("extract", "shop.toml") as process:
        wait_until(lambda: service.under_way() >= 3)
        paused = cli("extract", "pause", "1")
        assert "pass 1 is PAUSED" in paused.err
        assert "pass 1 is" in cli("extract", "resume", "shop").err
        cancelled = cli("extract", "cancel", "1", "--yes")
        assert "pass 1 is CANCELLED" in cancelled.err
        service.stop()
        process.communicate(timeout=60)
    assert process.returncode == 4
    assert len(exported(cli)) >= 10


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nosuch"], "there is no source 'nosuch'"),
        (["shop.toml", "nosuch"], "the source has no stream 'nosuch'; it has books, authors"),
        (["shop.toml", "--full", "--since", "2026"], "leave out one"),
        (["shop.toml", "--set", "x"], "write NAME=VALUE"),
        (["shop.toml", "--rate", "fast"], "is not a limit"),
        (["looker"], "LOOKERSDK"),
    ],
)
def test_a_mistake_is_explained_before_anything_is_fetched(
    cli: Cli, service: ListingService, words: list[str], said: str
):
    ended = cli("extract", *words)
    assert (ended.code, service.seen) == (2, [])
    assert said in ended.err


def test_options_may_stand_before_the_source(cli: Cli):
    said = cli("extract", "--quiet", "--full", "shop.toml", "authors")
    assert said.code == 0, said.err
    assert "authors" in said.out


def test_a_server_exports_and_controls_what_its_store_has(tmp_path: Path, service: ListingService):
    source = tmp_path / "shop.toml"
    source.write_text(SOURCE.replace("URL", service.url("")))
    with ApiServer(tmp_path, net__allow_private="true") as server:
        both = LocalAndRemote(server)
        done = Cli(tmp_path, {"HEADGATE_DATABASE_URL": server.project.url})("extract", source)
        assert done.code == 0, done.err
        words = ("extract", "export", "shop/books", "--deleted", "--out", "-")
        assert both.remote(*words) == both.local(*words)
        assert len(both.remote(*words).out.splitlines()) == 101
        for verb in ("pause", "resume"):
            refused = [run("extract", verb, "shop").code for run in (both.local, both.remote)]
            assert refused[0] == refused[1] != 0
        assert "would cancel pass 1" in both.remote("extract", "cancel", "1", "--dry-run").err
