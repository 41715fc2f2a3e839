"""The behaviour that all places share."""

from pathlib import Path

import pytest

from headgate.core.errors import BadSource, SourceUnreachable
from headgate.transfer.places.opening import open_place
from tests.kit.place_sites import PlaceSite

LARGE = bytes(range(256)) * 50_000
"""More than all buffers on the way hold, so that there is a middle to break off in."""
ODD_NAMES = ["a b.csv", "Grüße.csv", "50%.csv", "a+b&c=d.csv", "what?.csv", "#1.csv", "a..b.csv"]


class Stop(Exception):
    """The caller has changed its mind."""


def stop(size: int, total: int | None) -> None:
    raise Stop


def listed(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_a_file_is_copied_as_it_is(site: PlaceSite, tmp_path: Path):
    site.put("a.bin", LARGE)
    told: list[tuple[int, int | None]] = []
    target = tmp_path / "copies" / "1"
    target.parent.mkdir()
    fetched = site.place.fetch(
        site.url("a.bin"), target, on_progress=lambda size, total: told.append((size, total))
    )
    assert target.read_bytes() == LARGE
    assert (fetched.path, fetched.size, fetched.resumed_at) == (target, len(LARGE), 0)
    assert told[-1] == (len(LARGE), len(LARGE))
    assert told == sorted(told)
    assert len(told) > 10, "it comes in pieces"
    assert listed(target.parent) == ["1"]


def test_an_empty_file_is_a_file(site: PlaceSite, tmp_path: Path):
    site.put("empty.csv", b"")
    fetched = site.place.fetch(site.url("empty.csv"), tmp_path / "copy")
    assert (fetched.size, (tmp_path / "copy").read_bytes()) == (0, b"")


def test_what_is_found_names_the_content(site: PlaceSite):
    site.put("a.csv", b"one")
    first = site.place.stat(site.url("a.csv"))
    assert (first.name, first.size) == ("a.csv", 3)
    assert first.version
    assert first == site.place.stat(site.url("a.csv"))
    site.put("a.csv", b"other")
    second = site.place.stat(site.url("a.csv"))
    assert second.version != first.version
    assert second.identity != first.identity


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_are_names(site: PlaceSite, tmp_path: Path, name: str):
    site.put(name, name.encode())
    fetched = site.place.fetch(site.url(name), tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == name.encode()
    assert set(fetched.found.name) <= {*name, "_"}


def test_a_folder_lists_its_files_by_name(site: PlaceSite):
    for name in ["b.csv", "inner/c.csv", *ODD_NAMES]:
        site.put(name, name.encode())
    if not site.can_list:
        with pytest.raises(BadSource, match="cannot be listed"):
            site.place.files(site.url(""))
        return
    found = site.place.files(site.url(""))
    assert [one.url for one in found] == sorted(one.url for one in found)
    assert len(found) == 1 + len(ODD_NAMES)
    for one in found:
        assert one == site.place.stat(one.url), "both tell the same, or nothing could be known"


def test_a_folder_that_is_too_full_is_not_looked_through(site: PlaceSite):
    if not site.can_list:
        pytest.skip("there are no folders")
    for number in range(8):
        site.put(f"{number}.csv", b"x")
    assert len(site.with_settings(max_files=8).files(site.url(""))) == 8
    with pytest.raises(BadSource, match=r"more than 4 files \(places.max_files\)"):
        site.with_settings(max_files=4).files(site.url(""))


def test_a_missing_file_is_reported_as_missing(site: PlaceSite, tmp_path: Path):
    for attempt in (
        site.place.stat,
        lambda url: site.place.fetch(url, tmp_path / "copy"),
    ):
        with pytest.raises(BadSource, match=r"missing\.csv does not exist"):
            attempt(site.url("missing.csv"))
    assert not (tmp_path / "copy").exists()


def test_a_folder_is_not_a_file(site: PlaceSite, tmp_path: Path):
    site.put("inner/a.csv", b"x")
    with pytest.raises(BadSource):
        site.place.fetch(site.url("inner"), tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_a_file_that_is_too_large_leaves_no_copy(site: PlaceSite, tmp_path: Path):
    site.put("a.bin", LARGE)
    folder = tmp_path / "copies"
    folder.mkdir()
    with pytest.raises(BadSource, match="larger than the 1,000 bytes"):
        site.place.fetch(site.url("a.bin"), folder / "1", limit_bytes=1_000)
    with pytest.raises(BadSource, match="larger than the 2,000 bytes"):
        site.with_settings(max_bytes=2_000).fetch(site.url("a.bin"), folder / "1")
    assert listed(folder) == []


def test_an_interrupted_copy_resumes_where_it_ended(site: PlaceSite, tmp_path: Path):
    site.put("a.bin", LARGE)
    target = tmp_path / "copy"
    with pytest.raises(Stop):
        site.place.fetch(site.url("a.bin"), target, on_progress=stop)
    assert not target.exists()
    fetched = site.place.fetch(site.url("a.bin"), target)
    assert fetched.resumed_at > 0
    assert target.read_bytes() == LARGE


def test_a_try_that_broke_at_the_very_end_needs_no_second_copy(site: PlaceSite, tmp_path: Path):
    site.put("a.bin", LARGE)

    def stop_at_the_end(size: int, total: int | None) -> None:
        if size == total:
            raise Stop

    with pytest.raises(Stop):
        site.place.fetch(site.url("a.bin"), tmp_path / "copy", on_progress=stop_at_the_end)
    fetched = site.place.fetch(site.url("a.bin"), tmp_path / "copy")
    assert fetched.resumed_at == len(LARGE)
    assert (tmp_path / "copy").read_bytes() == LARGE


def test_other_content_is_never_added_to_what_is_kept(site: PlaceSite, tmp_path: Path):
    site.put("a.bin", LARGE)
    with pytest.raises(Stop):
        site.place.fetch(site.url("a.bin"), tmp_path / "copy", on_progress=stop)
    site.put("a.bin", LARGE[::-1] + b"!")
    fetched = site.place.fetch(site.url("a.bin"), tmp_path / "copy")
    assert fetched.resumed_at == 0
    assert (tmp_path / "copy").read_bytes() == LARGE[::-1] + b"!"


def test_what_is_kept_can_be_discarded(site: PlaceSite, tmp_path: Path):
    site.put("a.bin", LARGE)
    folder = tmp_path / "copies"
    folder.mkdir()
    with pytest.raises(Stop):
        site.place.fetch(site.url("a.bin"), folder / "1", on_progress=stop)
    assert listed(folder) == ["1.part", "1.part.json"]
    site.place.discard(folder / "1")
    assert listed(folder) == []


def test_two_never_write_the_same_copy(site: PlaceSite, tmp_path: Path):
    site.put("a.bin", LARGE)
    refused = []

    def another(size: int, total: int | None) -> None:
        if not refused:
            with pytest.raises(SourceUnreachable, match="is being copied already") as caught:
                site.place.fetch(site.url("a.bin"), tmp_path / "copy")
            refused.append(caught)

    site.place.fetch(site.url("a.bin"), tmp_path / "copy", on_progress=another)
    assert len(refused) == 1
    assert (tmp_path / "copy").read_bytes() == LARGE


def test_a_file_that_vanishes_is_copied_whole_or_not_at_all(site: PlaceSite, tmp_path: Path):
    site.put("a.bin", LARGE)
    gone = []

    def remove(size: int, total: int | None) -> None:
        if not gone:
            gone.append(site.remove("a.bin"))

    if site.kind in {"s3", "http"}:  # they answer once, with all of it
        site.place.fetch(site.url("a.bin"), tmp_path / "copy", on_progress=remove)
        assert (tmp_path / "copy").read_bytes() == LARGE
        return
    with pytest.raises(BadSource, match="was removed while it was copied"):
        site.place.fetch(site.url("a.bin"), tmp_path / "copy", on_progress=remove)
    assert not (tmp_path / "copy").exists()


def test_a_file_that_changes_is_not_taken_for_either(site: PlaceSite, tmp_path: Path):
    site.put("a.bin", LARGE)
    changed = []

    def change(size: int, total: int | None) -> None:
        if not changed:
            changed.append(site.put("a.bin", LARGE[::-1] + b"!"))

    if site.kind == "s3":  # an object is replaced, never changed
        site.place.fetch(site.url("a.bin"), tmp_path / "copy", on_progress=change)
        assert (tmp_path / "copy").read_bytes() == LARGE
        return
    with pytest.raises(SourceUnreachable, match="changed while it was copied"):
        site.place.fetch(site.url("a.bin"), tmp_path / "copy", on_progress=change)
    assert not (tmp_path / "copy").exists()
    site.place.fetch(site.url("a.bin"), tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == LARGE[::-1] + b"!"


def test_a_place_is_opened_by_its_url(site: PlaceSite):
    assert type(open_place(site.url("a"), site.settings)) is type(site.place)
