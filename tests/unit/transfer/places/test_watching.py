"""Only complete files are taken, and a changed file counts as another file."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.ports.source import FoundFile
from headgate.transfer.places.opening import open_place
from headgate.transfer.places.settings import PlaceSettings
from headgate.transfer.places.watching import (
    Sightings,
    WatchSettings,
    arrivals,
    is_settled,
    is_wanted,
)

SECOND = 1_000_000
NOW = 1_700_000_000 * SECOND


def folder_of(path: Path, **more: object) -> tuple:
    settings = WatchSettings(place=f"folder:{path}", **more)
    return open_place(settings.place, PlaceSettings(roots=(str(path),))), settings


def write(path: Path, text: str, age_s: float) -> None:
    path.write_text(text)
    written_s = NOW / SECOND - age_s
    os.utime(path, (written_s, written_s))


def names(found: list[FoundFile]) -> list[str]:
    return [one.name for one in found]


def test_old_files_are_taken_at_the_first_look(tmp_path: Path):
    write(tmp_path / "old.csv", "x", 61)
    write(tmp_path / "young.csv", "x", 59)
    place, settings = folder_of(tmp_path)
    assert names(arrivals(place, settings, Sightings(), NOW)) == ["old.csv"]


def test_a_file_whose_time_is_in_the_future_is_taken_when_it_stands_still(tmp_path: Path):
    write(tmp_path / "a.csv", "x", -3_600)
    place, settings = folder_of(tmp_path)
    seen = Sightings()
    assert arrivals(place, settings, seen, NOW) == []
    assert arrivals(place, settings, seen, NOW + 59 * SECOND) == []
    assert names(arrivals(place, settings, seen, NOW + 60 * SECOND)) == ["a.csv"]


def test_a_file_that_grows_starts_over(tmp_path: Path):
    place, settings = folder_of(tmp_path)
    seen = Sightings()
    write(tmp_path / "a.csv", "x", 0)
    assert arrivals(place, settings, seen, NOW) == []
    write(tmp_path / "a.csv", "xy", -50)
    assert arrivals(place, settings, seen, NOW + 60 * SECOND) == []
    assert names(arrivals(place, settings, seen, NOW + 120 * SECOND)) == ["a.csv"]


def test_hidden_and_unfinished_files_are_left_alone(tmp_path: Path):
    for name in (".a.csv", "b.csv.part", "c.csv"):
        write(tmp_path / name, "x", 100)
    place, settings = folder_of(tmp_path)
    assert names(arrivals(place, settings, Sightings(), NOW)) == ["c.csv"]


def test_the_same_file_is_the_same_at_every_look_and_another_one_is_not(tmp_path: Path):
    write(tmp_path / "a.csv", "x", 100)
    place, settings = folder_of(tmp_path)
    seen = Sightings()
    (first,) = arrivals(place, settings, seen, NOW)
    (again,) = arrivals(place, settings, seen, NOW + SECOND)
    assert first.identity == again.identity
    write(tmp_path / "a.csv", "y", 90)
    (other,) = arrivals(place, settings, seen, NOW)
    assert other.identity != first.identity


def test_an_identity_outlives_the_password():
    one, two = (
        FoundFile(f"ftp://me:{word}@host/in/a.csv", "a.csv", 3, "v1") for word in ("old", "new")
    )
    assert one.identity == two.identity
    assert "old" not in one.identity
    assert "old" not in repr(one)


@pytest.mark.parametrize(
    ("name", "pattern", "wanted"),
    [
        ("a.csv", "*", True),
        ("a.csv", "*.csv", True),
        ("A.CSV", "*.csv", False),
        ("b.txt", "*.csv", False),
        (".a.csv", "*", False),
        (".a.csv", ".*", True),
        ("a.csv.part", "*", False),
        ("a.csv.tmp", "*", False),
        ("a.csv.TMP", "*.tmp", False),
        ("a.tmp", "*.tmp", True),
        ("orders-2.csv", "orders-[0-9].csv", True),
    ],
)
def test_which_names_count(name: str, pattern: str, wanted: bool):
    assert is_wanted(name, pattern) == wanted


@pytest.mark.parametrize(
    ("found", "taken"),
    [
        (FoundFile("s3://b/a", "a", 1, "v", NOW, whole=True), True),
        (FoundFile("ftp://h/a", "a", 1, "v", NOW - 959 * SECOND), False),
        (FoundFile("ftp://h/a", "a", 1, "v", NOW - 960 * SECOND), True),
        (FoundFile("ftp://h/a", "a", 1, "v", None), False),
    ],
)
def test_the_clock_of_a_server_may_be_wrong(found: FoundFile, taken: bool):
    seen = Sightings()
    seen.note([found], NOW)
    assert is_settled(found, WatchSettings(place="ftp://h"), seen, NOW) == taken


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 40)), min_size=1, max_size=30))
def test_a_file_is_never_taken_before_it_stood_still_for_long_enough(looks):
    """Whatever the order of looks and changes; the server tells no time."""
    seen, settings, now = Sightings(), WatchSettings(place="ftp://h", settle_s=60.0), NOW
    since: dict[int, int] = {}
    for version, pause_s in looks:
        now += pause_s * SECOND
        found = FoundFile("ftp://h/a", "a", 1, f"v{version}")
        since = {version: since.get(version, now)}
        seen.note([found], now)
        expected = now - since[version] >= 60 * SECOND
        assert is_settled(found, settings, seen, now) == expected


def test_what_went_away_is_forgotten():
    seen, found = Sightings(), FoundFile("ftp://h/a", "a", 1, "v")
    settings = WatchSettings(place="ftp://h")
    seen.note([found], NOW)
    seen.note([], NOW + 100 * SECOND)
    seen.note([found], NOW + 200 * SECOND)
    assert not is_settled(found, settings, seen, NOW + 200 * SECOND)
