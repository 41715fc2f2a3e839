"""The line of an item in the manifest."""

import msgspec
import pytest

from headgate.app.download.manifest import first_key, is_duplicate, manifest_line
from headgate.core.download_folder import FinalOutcome
from headgate.core.status import ItemStatus
from tests.unit.app.download.histories import FILE, attempt, history


def test_a_downloaded_file_has_a_line_in_the_manifest():
    line = manifest_line(history(attempts=[attempt("done")], result=FILE))
    assert msgspec.to_builtins(line) == {
        "id": "doi:10.1234/abc",
        "input": "10.1234/ABC",
        "outcome": "done",
        "reason": None,
        "resolver": "unpaywall",
        "url": "https://a.example/x.pdf",
        "final_url": "https://b.example/x.pdf",
        "content_type": "application/pdf",
        "bytes": 2_000,
        "sha256": "ab" * 32,
        "path": "x.pdf",
        "cache": "fetched",
        "started_at": "2023-11-14T22:14:18.000000Z",
        "finished_at": "2023-11-14T22:14:20.000000Z",
    }


@pytest.mark.parametrize("status", [ItemStatus.PENDING, ItemStatus.PROCESSING])
def test_an_unfinished_row_has_no_line(status: ItemStatus):
    assert manifest_line(history(status, [attempt("retry")])) is None


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (ItemStatus.DONE, FinalOutcome.DONE),
        (ItemStatus.SKIPPED, FinalOutcome.SKIPPED),
        (ItemStatus.NOT_FOUND, FinalOutcome.NOT_FOUND),
        (ItemStatus.ERROR, FinalOutcome.ERROR),
        (ItemStatus.REVIEW, FinalOutcome.ERROR),
        (ItemStatus.CANCELLED, FinalOutcome.ERROR),
    ],
)
def test_outcomes(status: ItemStatus, outcome: FinalOutcome):
    line = manifest_line(history(status, result=FILE))
    assert line is not None
    assert line.outcome is outcome


def test_a_reason_code_comes_before_words():
    kept = {"reason": "size-mismatch", "resolver": "direct"}
    line = manifest_line(
        history(ItemStatus.ERROR, result=kept, error_class="permanent", error="too short")
    )
    assert line is not None
    assert (line.reason, line.resolver, line.path) == ("size-mismatch", "direct", None)


@pytest.mark.parametrize(
    ("status", "facts", "reason"),
    [
        (ItemStatus.ERROR, {"error_class": "poison", "error": "it died"}, "poison: it died"),
        (ItemStatus.NOT_FOUND, {"error": "nobody knows it"}, "nobody knows it"),
        (ItemStatus.CANCELLED, {"error_class": "throttled", "error": "wait"}, "cancelled"),
    ],
)
def test_an_end_without_a_result_still_says_why(status: ItemStatus, facts, reason: str):
    line = manifest_line(history(status, **facts))
    assert line is not None
    assert (line.reason, line.started_at, line.sha256) == (reason, None, None)


def test_the_times_are_those_of_the_last_visit():
    attempts = [
        attempt("retry", number=1),
        attempt("done", number=2),
        attempt("throttled", number=3),
        attempt("skipped", number=4),
    ]
    line = manifest_line(history(ItemStatus.SKIPPED, attempts, result=FILE))
    assert line is not None
    assert (line.started_at, line.finished_at) == (
        "2023-11-14T22:16:18.000000Z",
        "2023-11-14T22:17:20.000000Z",
    )


def test_a_row_with_the_same_request_has_the_file_of_the_first():
    twin = history(
        ItemStatus.SKIPPED,
        key="doi:10.1234/a#b#9",
        input='{"id":"https://doi.org/10.1234/a#b"}',
        error_class="bad_row",
        error="the same as line 2",
    )
    assert is_duplicate(twin.row)
    assert first_key(twin.row) == "doi:10.1234/a#b"
    line = manifest_line(twin, history(result=FILE).row)
    assert line is not None
    assert (line.outcome, line.reason, line.path) == (FinalOutcome.SKIPPED, "duplicate", "x.pdf")
    assert (line.id, line.sha256) == ("doi:10.1234/a#b#9", "ab" * 32)
    alone = manifest_line(twin)
    assert alone is not None
    assert (alone.outcome, alone.reason, alone.path) == (FinalOutcome.SKIPPED, "duplicate", None)


def test_a_file_that_was_there_is_not_a_duplicate():
    assert not is_duplicate(history(ItemStatus.SKIPPED, result=FILE).row)
    assert not is_duplicate(history(ItemStatus.ERROR, error_class="bad_row").row)


@pytest.mark.parametrize(
    ("row", "shown"),
    [
        ('{"title":"On nothing","DOI":" 10.1234/x "}', "10.1234/x"),
        ('{"title":"On nothing","DOI":"odd"}', "odd"),
        ('{"doi":"odd","url":"https://a.example/x"}', "https://a.example/x"),
        ('{"doi":"odd","url":"odder"}', "odd"),
        ('{"doi":"no doi"}', "no doi"),
        ('{"_raw":"{broken"}', "{broken"),
        ('{"n":0}', '{"n":0}'),
    ],
)
def test_the_input_is_shown_as_it_was_given(row: str, shown: str):
    line = manifest_line(history(ItemStatus.ERROR, input=row))
    assert line is not None
    assert line.input == shown
