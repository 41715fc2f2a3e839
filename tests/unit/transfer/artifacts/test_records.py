"""The records are replaced whole, and the folder is compared with them."""

import csv
import hashlib
import json
import os

import pytest

from headgate.core.download_folder import AttemptStep, FinalOutcome, ManifestLine
from headgate.core.errors import BadSource
from headgate.ports.artifacts import FolderGone
from headgate.transfer.artifacts.checking import Discrepancy, FileDifference, FolderCheck
from headgate.transfer.artifacts.records import attempts_file, manifest_file, write_all


def write_manifest(root, lines):
    write_all(manifest_file(root), lines)


def write_attempts(root, steps):
    write_all(attempts_file(root), steps)


def line(path, content=b"one", **others):
    sha256 = hashlib.sha256(content).hexdigest()
    facts = {"bytes": len(content), "sha256": sha256, "path": path} | others
    return ManifestLine("1", "http://a/b", FinalOutcome.DONE, **facts)


def differences(root):
    return [(each.kind, each.path) for each in FolderCheck(root).run()]


def test_a_manifest_has_one_object_a_line(tmp_path):
    nothing = ManifestLine("2", "http://a/c", FinalOutcome.NOT_FOUND, "status 404")
    write_manifest(tmp_path, [line("a.pdf"), nothing])
    first, second = map(json.loads, (tmp_path / "manifest.jsonl").read_text().splitlines())
    assert list(first) == [
        *("id", "input", "outcome", "reason", "resolver", "url", "final_url", "content_type"),
        *("bytes", "sha256", "path", "cache", "started_at", "finished_at"),
    ]
    assert (first["outcome"], first["bytes"], first["path"]) == ("done", 3, "a.pdf")
    assert (second["outcome"], second["reason"], second["path"]) == (
        "not_found",
        "status 404",
        None,
    )


def test_attempts_are_a_table_that_no_spreadsheet_runs(tmp_path):
    steps = [
        AttemptStep("1", 1, "2026-01-01T00:00:00Z", "http-get", "direct", "a", 200, 5, 1.5, 0.0),
        AttemptStep("1", 2, "2026-01-01T00:00:01Z", "retry", reason='=cmd|"x",\ny'),
    ]
    write_attempts(tmp_path, iter(steps))
    assert (tmp_path / "attempts.csv").read_text().count("\n") == 4
    with (tmp_path / "attempts.csv").open(newline="") as file:
        first, second = csv.DictReader(file)
    assert (first["step"], first["status"], first["ran_ms"], first["reason"]) == (
        *("http-get", "200", "1.5", ""),
    )
    assert (second["status"], second["reason"]) == ("", '\'=cmd|"x",\ny')


def test_many_lines_are_all_written(tmp_path):
    write_manifest(tmp_path, (line(f"{n}.pdf") for n in range(2_500)))
    assert len((tmp_path / "manifest.jsonl").read_text().splitlines()) == 2_500


def test_what_fails_midway_leaves_the_old_record(tmp_path):
    def broken():
        yield line("b.pdf")
        raise KeyError("store")

    write_manifest(tmp_path, [line("a.pdf")])
    before = (tmp_path / "manifest.jsonl").read_bytes()
    with pytest.raises(KeyError):
        write_manifest(tmp_path, broken())
    assert (tmp_path / "manifest.jsonl").read_bytes() == before
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["manifest.jsonl"]


def test_a_folder_that_is_gone_is_told(tmp_path):
    with pytest.raises(FolderGone):
        write_manifest(tmp_path / "gone", [])


def test_a_folder_as_its_manifest_says_has_no_differences(tmp_path):
    (tmp_path / "a.pdf").write_bytes(b"one")
    (tmp_path / ".headgate-store").mkdir()
    write_manifest(
        tmp_path, [line("a.pdf"), line("a.pdf"), ManifestLine("2", "x", FinalOutcome.ERROR)]
    )
    write_attempts(tmp_path, [])
    check = FolderCheck(tmp_path)
    assert list(check.run()) == []
    assert (check.files, check.bytes) == (2, 6)


def test_differences_are_found_and_named(tmp_path):
    for name, content in {"ok": b"one", "cut": b"on", "other": b"two", "mine": b"x"}.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder").mkdir()
    names = ["ok", "cut", "other", "gone", "folder", "../up", "/etc/passwd"]
    write_manifest(tmp_path, [line(name) for name in names])
    with (tmp_path / "manifest.jsonl").open("a") as file:
        file.write('{"id":')
    assert differences(tmp_path) == [
        (Discrepancy.SIZE, "cut"),
        (Discrepancy.CONTENT, "other"),
        (Discrepancy.MISSING, "gone"),
        (Discrepancy.UNREADABLE, "folder"),
        (Discrepancy.BAD_LINE, "../up"),
        (Discrepancy.BAD_LINE, "/etc/passwd"),
        (Discrepancy.BAD_LINE, "manifest.jsonl"),
        (Discrepancy.EXTRA, "mine"),
    ]


def test_a_difference_tells_the_item_and_the_figures(tmp_path):
    (tmp_path / "cut").write_bytes(b"on")
    write_manifest(tmp_path, [line("cut")])
    assert list(FolderCheck(tmp_path).run()) == [
        FileDifference(Discrepancy.SIZE, "cut", "1", "2 bytes, not 3")
    ]


def test_names_that_are_not_utf8_are_extra_and_harmless(tmp_path):
    (tmp_path / os.fsdecode(b"\xff.pdf")).write_bytes(b"x")
    write_manifest(tmp_path, [])
    assert [kind for kind, _ in differences(tmp_path)] == [Discrepancy.EXTRA]


def test_a_folder_without_a_manifest_cannot_be_checked(tmp_path):
    with pytest.raises(BadSource, match="manifest"):
        list(FolderCheck(tmp_path).run())


def test_a_record_is_opened_before_it_is_written(tmp_path):
    record = manifest_file(tmp_path)
    record.abandon()
    with pytest.raises(RuntimeError, match="not opened"):
        record.write([])
