"""What makes a job the same job."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.identity import (
    differences,
    handler_name,
    has_moved,
    moved_path,
    options_refusal,
    result_digest,
)
from headgate.core.job import NewJob
from tests.unit.engine.test_job_matching import job


def told(stored, given, *, options=None, new_options=None) -> list[str]:
    new = NewJob("h", "rows.csv", config=given, options=new_options)
    return [str(each) for each in differences(job(config=stored, options=options), new)]


def both(before: str, after: str) -> str:
    return f"{before}, and this command has {after}"


@pytest.mark.parametrize(
    ("stored", "given", "before", "after"),
    [
        ({"region": "eu"}, {"region": "us"}, "with --config region=eu", "--config region=us"),
        ({"region": "eu"}, {}, "with --config region=eu", "no --config region"),
        ({}, {"n": 3}, "without --config n", "--config n=3"),
        ({"n": 1}, {"n": True}, "with --config n=1", "--config n=true"),
        ({"n": None}, {}, "with --config n=null", "no --config n"),
        ({"reuse": "30d"}, {}, "with --reuse 30d", "no --reuse"),
        ({"token": "a"}, {"token": "b"}, "with --config token=***", "--config token=***"),
        ({"a": {"token": "x"}}, {}, 'with --config a={"token":"***"}', "no --config a"),
    ],
)
def test_a_changed_config_is_reported_with_both_values(stored, given, before, after):
    assert told(stored, given) == [both(before, after)]


@pytest.mark.parametrize(
    ("stored", "given", "words"),
    [
        ({}, {"encoding": "cp1252"}, both("without --encoding", "--encoding cp1252")),
        ({"sheet": "Data"}, {}, both("with --sheet Data", "no --sheet")),
        ({"delimiter": "\t"}, {"delimiter": ";"}, both("with --delimiter '\\t'", "--delimiter ;")),
        ({"on_bad_row": "skip"}, {}, both("with --on-bad-row skip", "no --on-bad-row")),
        ({"version": "1"}, {"version": "2"}, "version 1 of its handler, which has version 2 now"),
        ({}, {"version": "2"}, "no version of its handler, which has version 2 now"),
    ],
)
def test_a_changed_option_is_reported_with_both_values(stored, given, words):
    assert told({}, {}, options=stored, new_options=given) == [words]


def test_options_that_do_not_affect_the_result_may_change():
    assert told({"a": [1], "b": 2}, {"b": 2, "a": [1]}, options={"x": 1}, new_options={}) == []


def test_a_job_without_stored_options_differs_by_its_config_alone():
    given = {"encoding": "latin-1", "version": "2"}
    assert told({}, {}, options=None, new_options=given) == []
    assert len(told({"n": 1}, {}, options=None, new_options=given)) == 1


def test_a_new_version_may_run_the_remaining_rows():
    new = NewJob("code/h.py:price", "rows.csv", options={"version": "2"})
    made = job(options={"version": "1"})
    text = options_refusal(made, differences(made, new), new.handler)
    assert "made with version 1 of its handler, which has version 2 now" in text
    assert "`--new` starts another job; `headgate jobs rebind 7 code/h.py:price`" in text
    both = NewJob("code/h.py:price", "rows.csv", options={"version": "2", "sheet": "B"})
    assert "with the old options, job 7 continues" in options_refusal(
        made, differences(made, both), "h.py:x"
    )


def test_a_changed_description_is_named_by_its_file_and_not_by_digests():
    new = NewJob("code/prices.toml", "rows.csv", options={"version": "4fab2a67"})
    made = job(options={"version": "c6589de9"})
    text = options_refusal(made, differences(made, new), new.handler)
    assert text.startswith("job 7 was made with an earlier version of prices.toml")
    assert "c6589de9" not in text


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        ("/a/b/lookup.py:price", "lookup.py:price"),
        ("/a/lookup.toml", "lookup.toml"),
        ("pkg.mod:price", "pkg.mod:price"),
        ("http.lookup", "http.lookup"),
    ],
)
def test_a_handler_is_known_without_its_folder(reference, name):
    assert handler_name(reference) == name


OLD = {"handler": "/p/old/h.py:f", "source": "/p/old/rows.csv"}


@pytest.mark.parametrize(
    ("handler", "source", "there", "moved"),
    [
        ("/p/new/h.py:f", "/p/new/rows.csv", (), True),
        ("/p/old/h.py:f", "/p/old/renamed.csv", ("/p/old/h.py",), True),
        ("/q/h.py:f", "/r/rows.csv", (), True),
        ("/p/new/h.py:f", "/p/new/rows.csv", ("/p/old/rows.csv",), False),
        ("/p/new/h.py:f", "/p/new/rows.csv", ("/p/old/h.py",), False),
        ("/p/new/h.py:g", "/p/new/rows.csv", (), False),
        ("/p/new/other.py:f", "/p/new/rows.csv", (), False),
        ("/p/old/h.py:f", "-", (), False),
    ],
)
def test_files_have_moved_if_nothing_is_left_at_their_old_place(handler, source, there, moved):
    new = NewJob(handler, source, fingerprint="f1")
    assert has_moved(job(**OLD), new, lambda path: path in there, "") is moved


def test_paths_in_the_moved_folder_move_with_it():
    new = NewJob("/p/new/h.py:f", "/p/new/rows.csv")
    assert moved_path("/p/old/out/x", job(**OLD), new) == "/p/new/out/x"
    assert moved_path("/elsewhere/x", job(**OLD), new) == "/elsewhere/x"
    assert moved_path("eu", job(**OLD), new) == "eu"


@given(st.dictionaries(st.text(), st.text() | st.integers(-(2**53), 2**53) | st.none()))
def test_the_order_of_members_and_the_form_make_no_difference(data):
    backwards = dict(reversed(data.items()))
    assert result_digest("h", "1", data) == result_digest("h", "1", backwards)
    assert result_digest("h", "1", json.dumps(backwards)) == result_digest("h", "1", data)


def test_handler_version_and_input_all_matter():
    digests = {
        result_digest(handler, version, data)
        for handler in ("h", "h1")
        for version in ("", "1")
        for data in ({}, {"a": 1}, {"a": "1"}, {"a": None})
    }
    assert len(digests) == 16
    assert {len(digest) for digest in digests} == {32}
