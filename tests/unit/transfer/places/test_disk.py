"""Sources of this machine lie in the folders that were named, and nowhere else."""

import os
from pathlib import Path

import pytest

from headgate.core.errors import BadSource
from headgate.transfer.places import disk
from headgate.transfer.places.disk import DiskDriver, path_of
from headgate.transfer.places.opening import open_place
from headgate.transfer.places.settings import PlaceSettings


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root" / "inner").mkdir(parents=True)
    (tmp_path / "root" / "a.csv").write_text("inside")
    (tmp_path / "secret.csv").write_text("outside")
    return tmp_path / "root"


def place_of(root: Path):
    return open_place("a", PlaceSettings(roots=(str(root),)))


@pytest.mark.parametrize("form", ["{}", "file://{}", "file:{}", "file://localhost{}", "FILE://{}"])
def test_a_file_is_named_in_many_ways(root: Path, form: str):
    assert place_of(root).stat(form.format(root / "a.csv")).size == len("inside")


@pytest.mark.parametrize(
    "way",
    ["../secret.csv", "inner/../../secret.csv", "../missing.csv", "link.csv", "away/secret.csv"],
)
def test_no_way_leads_outside(root: Path, way: str, tmp_path: Path):
    (root / "link.csv").symlink_to(tmp_path / "secret.csv")
    (root / "away").symlink_to(tmp_path)
    for attempt in (
        place_of(root).stat,
        lambda url: place_of(root).fetch(url, tmp_path / "copy"),
        lambda url: place_of(root).files(url),
    ):
        with pytest.raises(BadSource, match=r"is outside the folders .*places\.roots"):
            attempt(f"{root}/{way}")


@pytest.mark.parametrize(
    ("url", "named"), [("file:etc/passwd", "etc/passwd"), ("folder:in/a", "in/a"), ("b", "b")]
)
def test_a_refusal_names_a_file_as_it_was_asked_for(root: Path, url: str, named: str):
    with pytest.raises(BadSource) as caught:
        place_of(root).stat(url)
    assert str(caught.value).startswith(f"{named} is outside")
    assert str(Path.cwd()) not in str(caught.value)


def test_escapes_are_undone_before_the_check(root: Path):
    with pytest.raises(BadSource, match="is outside"):
        place_of(root).stat(f"file://{root}/%2e%2e/secret.csv")


def test_a_folder_whose_name_begins_alike_is_another(root: Path, tmp_path: Path):
    (tmp_path / "root2").mkdir()
    (tmp_path / "root2" / "a.csv").write_text("x")
    with pytest.raises(BadSource, match="is outside"):
        place_of(root).stat(str(tmp_path / "root2" / "a.csv"))


def test_nothing_may_be_read_unless_it_was_named(root: Path):
    with pytest.raises(BadSource, match="is outside"):
        open_place("a").stat(str(root / "a.csv"))


def test_without_a_limit_all_may_be_read(root: Path):
    place = open_place("a", PlaceSettings(roots=None))
    assert place.stat(str(root / "a.csv")).size == len("inside")


def test_a_link_inside_is_followed(root: Path):
    (root / "inner" / "link.csv").symlink_to(root / "a.csv")
    assert place_of(root).stat(str(root / "inner" / "link.csv")).size == len("inside")


def test_a_listing_leaves_out_what_leads_outside(root: Path, tmp_path: Path):
    (root / "link.csv").symlink_to(tmp_path / "secret.csv")
    (root / "dangling.csv").symlink_to(root / "missing")
    os.mkfifo(root / "pipe")
    assert [one.name for one in place_of(root).files(f"folder:{root}")] == ["a.csv"]


@pytest.mark.parametrize("last", ["", "a.csv"])
def test_a_link_put_there_after_the_check_is_not_followed(
    root: Path, tmp_path: Path, monkeypatch, last: str
):
    """A user who can write inside exchanges a name between the check and the opening."""
    victim = root / "inner" / "a.csv"
    victim.write_text("inside")
    checked = DiskDriver._allowed

    def exchanging(self, path, named):
        allowed = checked(self, path, named)
        if last:
            victim.unlink()
            victim.symlink_to(tmp_path / "secret.csv")
        else:
            victim.unlink()
            victim.parent.rmdir()
            victim.parent.symlink_to(tmp_path)
            (tmp_path / "a.csv").write_text("outside")
        return allowed

    monkeypatch.setattr(DiskDriver, "_allowed", exchanging)
    with pytest.raises(BadSource):
        place_of(root).stat(str(victim))


def test_a_pipe_or_a_device_is_not_a_source(root: Path):
    os.mkfifo(root / "pipe")
    with pytest.raises(BadSource, match="not a regular file"):
        place_of(root).stat(str(root / "pipe"))
    with pytest.raises(BadSource, match="not a regular file"):
        open_place("a", PlaceSettings(roots=None)).stat("/dev/zero")


def test_another_machine_is_refused():
    with pytest.raises(BadSource, match="refers to another machine"):
        path_of("file://server/share/a.csv")


@pytest.mark.parametrize("url", ["/data/a\0b", "file:///a%00b", "file:///a\nb"])
def test_control_characters_are_refused(url: str):
    with pytest.raises(BadSource, match="control characters"):
        path_of(url)


def test_a_file_that_is_missing_inside_is_missing(root: Path):
    with pytest.raises(BadSource, match="does not exist"):
        place_of(root).stat(str(root / "b.csv"))
    with pytest.raises(BadSource, match="does not exist"):
        place_of(root).files(str(root / "nowhere"))
    with pytest.raises(BadSource, match="is a file, not a folder"):
        place_of(root).files(str(root / "a.csv"))


def handles() -> int:
    return len([*Path("/proc/self/fd").iterdir()])


def test_no_handle_is_left_open(root: Path):
    before = handles()
    for _ in range(3):
        place_of(root).stat(str(root / "a.csv"))
        with pytest.raises(BadSource):
            place_of(root).stat(str(root / "inner"))
        with pytest.raises(BadSource):
            place_of(root).stat(str(root / "inner" / "b" / "c"))
    assert handles() == before


def test_the_module_opens_through_no_link(root: Path, tmp_path: Path):
    (root / "link").symlink_to(root / "inner")
    with pytest.raises(OSError, match=r"symbolic links|Not a directory"):
        disk._open_beneath(root, ["link", "x"])
