"""The figures and examples of the first source document, on a pass over Looker."""

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from headgate.ports.reads import ItemRow
from tests.kit.extraction import FAST, Extraction, PassSummary
from tests.kit.looker import LookerServer
from tests.kit.project import Project
from tests.kit.source_faults import refusing

pytestmark = pytest.mark.slow

BOARDS = 4_301
REFUSALS = 3


class Boards(NamedTuple):
    """A pass over boards, whose first requests were refused, with three workers."""

    project: Project
    source: Extraction
    done: PassSummary
    items: dict[str, ItemRow]
    results: dict[str, str | None]


@pytest.fixture(scope="module")
def boards(tmp_path_factory: pytest.TempPathFactory) -> Boards:
    folder = tmp_path_factory.mktemp("boards")
    project = Project(folder, f"sqlite:///{folder}/headgate.db")
    with LookerServer(rows=0) as looker:
        looker.put(
            "boards", *({"id": str(each), "title": f"Board {each}"} for each in range(BOARDS))
        )
        looker.put("groups", {"id": "1", "name": "Everyone"})
        looker.faults = [refusing(REFUSALS, retry_after="1")]
        project.environment = looker.environment
        source = Extraction(project, "looker", "boards", "groups", *FAST)
        done = source.complete("--workers", "3")
    items = {item.key: item for item in project.items()}
    return Boards(project, source, done, items, project.results())


def test_page_42_is_an_item_of_its_stream_with_100_rows(boards: Boards):
    """Pages have 100 rows unless the command says otherwise, and overlap by one."""
    key = f"boards/offset={42 * 99}"
    assert boards.items[key].status == "DONE"
    result = json.loads(boards.results[key] or "{}")
    assert (result["rows"], result.get("ends", False)) == (100, False)


def test_a_stream_is_complete_once_an_item_has_closed_it(boards: Boards):
    closings = [key for key in boards.items if "/closing/" in key]
    assert sorted(key.split("/")[0] for key in closings) == ["boards", "groups"]
    for name in ("boards", "groups"):
        assert boards.source.checkpoint(name, 1).completed_at is not None


def test_rows_and_pages_are_counted_for_each_stream_and_in_all(boards: Boards):
    streams = boards.done.streams
    assert {name: each["added"] for name, each in streams.items()} == {
        "boards": BOARDS,
        "groups": 1,
    }
    assert boards.done.said["rows"] == BOARDS + 1
    assert streams["boards"]["pages"] == 44
    boards.project.assert_clean()  # counts every number again


def test_a_pass_reports_its_workers_throughput_and_refusals(boards: Boards):
    shown = boards.project.invoke("extract", "show", "1", "--json")
    report = shown.json["report"]
    (session,) = report["sessions"]
    assert session["worker_count"] >= 1
    assert session["rows_per_s"] > session["pages_per_s"] > 0
    assert report["refusals"] == REFUSALS
    assert report["last_refusal_at"] is not None
    assert report["successes_since_refusal"] >= 44
    assert report["backoff_multiplier"] >= 1
    assert report["errors_by_worker"] == []


@pytest.mark.parametrize(
    "words",
    [
        ("--workers", "0"),
        ("--workers", "51"),
        ("--batch-size", "9"),
        ("--batch-size", "1001"),
        ("--rate", "0/min"),
    ],
    ids=" ".join,
)
def test_numbers_out_of_bounds_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, str]
):
    project = Project(tmp_path, f"sqlite:///{tmp_path}/headgate.db")
    monkeypatch.setenv("LOOKERSDK_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("LOOKERSDK_CLIENT_ID", "a")
    monkeypatch.setenv("LOOKERSDK_CLIENT_SECRET", "b")
    assert project.invoke("extract", "run", "looker", *words).code == 2
    assert not (tmp_path / "headgate.db").exists()
