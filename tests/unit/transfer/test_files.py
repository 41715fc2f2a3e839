"""Files appear whole or not at all."""

import json
from pathlib import Path

import pytest

from headgate.transfer.files import LocalTarget, fingerprint


def test_the_same_bytes_have_the_same_name(tmp_path: Path):
    one, two, other = (tmp_path / name for name in ("one", "two", "other"))
    one.write_bytes(b"x" * 3_000_000)
    two.write_bytes(b"x" * 3_000_000)
    other.write_bytes(b"x" * 2_999_999 + b"y")
    assert fingerprint(one) == fingerprint(two) != fingerprint(other)
    assert fingerprint(one).endswith(":3000000")


def test_a_file_appears_when_it_is_complete_with_its_record(tmp_path: Path):
    path = tmp_path / "out.csv"
    path.write_text("old")
    target = LocalTarget(path)
    target.open()
    target.write(b"new")
    assert path.read_text() == "old"
    target.commit({"rows": 1})
    assert path.read_text() == "new"
    assert json.loads((tmp_path / "out.csv.meta.json").read_text()) == {"rows": 1}
    assert sorted(each.name for each in tmp_path.iterdir()) == ["out.csv", "out.csv.meta.json"]


def test_what_is_abandoned_leaves_no_trace(tmp_path: Path):
    path = tmp_path / "out.csv"
    path.write_text("old")
    target = LocalTarget(path)
    target.open()
    target.write(b"new")
    target.abandon()
    assert [each.name for each in tmp_path.iterdir()] == ["out.csv"]
    assert path.read_text() == "old"


def test_a_crash_never_leaves_the_record_of_another_file(tmp_path: Path, monkeypatch):
    path = tmp_path / "out.csv"
    first = LocalTarget(path)
    first.open()
    first.commit({"rows": 1})
    second = LocalTarget(path)
    second.open()
    monkeypatch.setattr(Path, "replace", _crash)
    with pytest.raises(KeyboardInterrupt):
        second.commit({"rows": 2})
    assert not (tmp_path / "out.csv.meta.json").exists()


def _crash(self, target):
    raise KeyboardInterrupt


def test_a_new_file_gets_the_usual_mode_and_an_old_one_keeps_its_own(tmp_path: Path):
    path, plain = tmp_path / "out.csv", tmp_path / "plain"
    plain.touch()
    for mode in (plain.stat().st_mode & 0o777, 0o640):
        target = LocalTarget(path)
        target.open()
        target.commit({})
        assert path.stat().st_mode & 0o777 == mode
        path.chmod(0o640)


def test_a_target_is_opened_first(tmp_path: Path):
    target = LocalTarget(tmp_path / "out.csv")
    with pytest.raises(RuntimeError, match="before open"):
        target.write(b"")
    with pytest.raises(RuntimeError, match="before open"):
        target.commit({})
