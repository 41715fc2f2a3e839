"""Every requirement has its place, and every place that is named exists."""

import re

import pytest

from tests.kit.pages import ROOT

PAGE = ROOT / "docs" / "requirements.md"
LAST = {"S0-": 45, "S1-": 86, "S1P-": 4, "S2-": 34, "S2P-": 4, "S3-": 82, "C": 20, "T": 9}
IDS = [f"{family}{number}" for family, last in LAST.items() for number in range(1, last + 1)]
SPEC = ROOT.parent / "shared" / "spec"
ROW = re.compile(r"^\| ((?:S\dP?-|C|T)\d+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
PATH = re.compile(r"`((?:[\w.-]+/)*[\w.-]+\.(?:py|md|sql|tsx?))`")
TESTS = re.compile(r"`(tests/[\w/]+\.py)` \(((?:`test_\w+`(?:, )?)+)\)")
LATER = re.compile(r"later: ((?:[\w ]+?)(?:, [\w ]+?)*)(?=;|$)")


@pytest.fixture(scope="module")
def places() -> dict[str, str]:
    return {found[1]: found[3].strip() for found in ROW.finditer(PAGE.read_text("utf-8"))}


def test_no_requirement_is_missing(places):
    assert list(places) == IDS


def test_every_requirement_has_a_place(places):
    empty = [
        name
        for name, place in places.items()
        if "`" not in place and "later: " not in place and "not applicable" not in place
    ]
    assert empty == []


def test_paths_of_the_table_exist(places):
    missing = {
        f"{name}: {path}"
        for name, place in places.items()
        for path in PATH.findall(place)
        if not (ROOT / path).exists() and not (ROOT / "src" / "headgate" / path).exists()
    }
    assert missing == set()


def test_every_requirement_of_extraction_names_a_test(places):
    without = [name for name in IDS if name.startswith("S0-") and "`tests/" not in places[name]]
    assert without == []


def test_tests_of_the_table_are_in_the_files_that_are_named_before_them(places):
    missing = {
        f"{name}: {path} {test}"
        for name, place in places.items()
        for path, tests in TESTS.findall(place)
        for test in re.findall(r"`(test_\w+)`", tests)
        if not re.search(
            rf"^(?:async )?def {test}\(", (ROOT / path).read_text("utf-8"), re.MULTILINE
        )
    }
    assert missing == set()


def test_later_names_a_capability(places):
    text = PAGE.read_text("utf-8")
    table = text[text.index("| capability |") : text.index("## S0")]
    known = set(re.findall(r"^\| (\w[\w ]*) \|", table, re.MULTILINE)) - {"capability"}
    named = {
        capability.strip()
        for place in places.values()
        for found in LATER.findall(place)
        for capability in found.split(",")
    }
    assert named <= known
    assert known <= named


def test_the_list_of_ids_is_that_of_the_requirements():
    files = [SPEC / "REQUIREMENTS.md", SPEC / "TRAPS.md"]
    if not all(file.exists() for file in files):
        pytest.skip("the requirements themselves do not lie beside this checkout")
    text = "\n".join(file.read_text("utf-8") for file in files)
    stated = re.findall(r"^- ((?:S\dP?-|C|T)\d+) ", text, re.MULTILINE)
    assert sorted(stated) == sorted(IDS)
