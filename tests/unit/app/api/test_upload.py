"""Files of an upload get unique names without a look at the disk."""

from pathlib import Path

import pytest
from python_multipart.multipart import MultipartParser

from headgate.app.api.upload import _Parts, pieces_of

MOST_BYTES = 10_000_000


def stored(folder: Path, *names: str) -> list[str]:
    parts = _Parts(folder, MOST_BYTES)
    parser = MultipartParser(b"x", parts.callbacks())
    for name in names:
        disposition = f'Content-Disposition: form-data; name="file"; filename="{name}"'
        parser.write(f"--x\r\n{disposition}\r\n\r\n1\r\n".encode())
    parser.write(b"--x--\r\n")
    return [file.path.name for file in parts.finished().files]


def test_thousands_of_files_of_one_name_are_numbered_without_probing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def probe(path: Path) -> bool:
        raise AssertionError(f"{path} was looked for")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "exists", probe)
        names = stored(tmp_path, *["a.csv"] * 4_000)
    assert names[:3] == ["a.csv", "a_2.csv", "a_3.csv"]
    assert names[-1] == "a_4000.csv"
    assert len(set(names)) == 4_000


def test_a_number_that_is_already_used_in_a_name_is_skipped(tmp_path: Path):
    assert stored(tmp_path, "a_2.csv", "a.csv", "A.csv", "a.csv", "b") == [
        "a_2.csv",
        "a.csv",
        "A_3.csv",
        "a_4.csv",
        "b",
    ]


def test_many_small_parts_are_written_in_small_pieces():
    many = b"--x\r\n" * 10_000
    pieces = [*pieces_of(many, b"--x")]
    assert b"".join(pieces) == many
    assert max(map(len, pieces)) <= 4_096
    few = b"a" * 60_000 + b"--x\r\n"
    assert [*pieces_of(few, b"--x")] == [few]
