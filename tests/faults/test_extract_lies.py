"""Sources that lie: what cannot be right is an error of its page, and no row is lost for it."""

import json
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.faults.conftest import SETTINGS
from tests.kit.answers import Answer, by_path
from tests.kit.extraction import Extraction, PassSummary
from tests.kit.lying_source import ROWS, LyingSource, rows
from tests.kit.project import Project
from tests.kit.provider import Provider

PROVEN = {
    "truth": "covered",
    "total_too_low": "covered",
    "fewer_rows": "covered",
    "fewer_rows_uncounted": "covered",
    "another_type": "covered",
    "empty_link": "chained",
}
"""What is complete all the same: each lie can be seen through."""
UNPROVEN = {"total_too_high", "empty_middle"}
REASONS = {
    "error_body": "answered 200 with no list at 'rows'; it has error, code",
    "row_without_id": "row 8 of the page has no 'id'",
    "link_elsewhere": "which is not on a host of the source",
    "link_in_a_circle": "the pages lead in a circle",
}
"""Why a page of each of the others fails."""


class Told(NamedTuple):
    """A pass over the truth, one over the lies, and the same one resumed over the truth."""

    source: Extraction
    lied: PassSummary
    live: dict[str, set[str]]
    """After the pass over the lies."""
    deleted: dict[str, set[str]]
    reasons: dict[str, str]
    stolen: int
    """Requests that another host received."""
    resumed: PassSummary


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    folder = tmp_path_factory.mktemp("lies")
    project = Project(folder, f"sqlite:///{folder}/headgate.db", SETTINGS)
    with Provider() as thief, LyingSource(thief.url("/")) as liar:
        (folder / "liar.toml").write_text(liar.description)
        source = Extraction(project, "liar.toml")
        liar.lies = False
        source.complete()
        liar.lies = True
        lied = source.run()
        live = {name: set(source.live(name)) for name in lied.streams}
        deleted = {name: source.deleted(name) for name in lied.streams}
        reasons = {key.split("/")[0]: why for key, why in source.errors(2).items()}
        liar.lies = False
        resumed = source.run()
        yield Told(source, lied, live, deleted, reasons, len(thief.seen), resumed)


def test_lies_delete_no_row(told: Told):
    everything = {str(row["id"]) for row in rows()}
    assert told.live == dict.fromkeys(told.lied.streams, everything)
    assert not any(told.deleted.values())


@pytest.mark.parametrize("stream", PROVEN)
def test_a_lie_that_is_seen_through_keeps_its_proof(told: Told, stream: str):
    assert told.lied.proofs[stream] == PROVEN[stream]
    assert sum(told.lied.numbers(stream)) == ROWS


@pytest.mark.parametrize("stream", sorted(UNPROVEN))
def test_a_listing_with_a_hole_is_called_unproven(told: Told, stream: str):
    assert told.lied.proofs[stream] == "unproven"
    assert f"{stream} is unproven" in told.lied.talk


@pytest.mark.parametrize("stream", REASONS)
def test_a_page_that_cannot_be_right_fails_and_says_why(told: Told, stream: str):
    assert told.lied.proofs[stream] is None
    assert REASONS[stream] in told.reasons[stream]


def test_a_pass_over_lies_ends_as_failed(told: Told):
    assert told.lied.code == 3
    assert told.reasons.keys() == REASONS.keys()


def test_a_link_to_another_host_is_not_followed(told: Told):
    assert told.stolen == 0


def test_a_field_that_changes_its_type_is_kept_and_noted(told: Told):
    schema = told.source.project.invoke("extract", "schema", "another_type", "--json").json
    types = {field["name"]: field["types"] for field in schema["fields"]}
    assert types == {"id": ["integer"], "name": ["integer", "string"]}


def test_failed_pages_close_their_streams_once_the_source_is_right(told: Told):
    assert told.resumed.said["pass_id"] == told.lied.said["pass_id"]
    failed = {name for name, proof in told.resumed.proofs.items() if proof == "unproven"}
    assert failed == UNPROVEN
    assert None not in told.resumed.proofs.values()
    told.source.project.assert_clean()


MEGABYTE = 1_000_000
LARGE = """
[client]
base_url = "{url}"
rate = "1000/s"
[resource_defaults]
primary_key = "id"
[[resources]]
name = "large"
endpoint = {{ path = "/large", paginator = "single_page" }}
[[resources]]
name = "too_large"
endpoint = {{ path = "/too_large", paginator = "single_page" }}
"""


def megabytes(count: int) -> Answer:
    found = [{"id": number, "text": "x" * MEGABYTE} for number in range(count)]
    return Answer(200, [("Content-Type", "application/json")], json.dumps(found).encode())


def test_a_page_of_50_mb_is_kept_and_a_larger_one_than_allowed_fails(sqlite_project: Project):
    pages = {"/large": megabytes(50), "/too_large": megabytes(70)}
    script = by_path({path: lambda _, page=page: page for path, page in pages.items()})
    with Provider(script) as server:
        file = sqlite_project.folder / "large.toml"
        file.write_text(LARGE.format(url=server.url("").rstrip("/")))
        source = Extraction(sqlite_project, "large.toml")
        done = source.run()
    assert done.code == 3, done.talk
    assert done.proofs == {"large": "chained", "too_large": None}
    assert [len(row["text"]) for row in source.live("large").values()] == [MEGABYTE] * 50
    (reason,) = source.errors().values()
    assert "answered with more than 67,108,864 bytes" in reason
    assert "net.body_bytes" in reason
