"""Files of others lie under names of our own."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.app.data_folder import (
    LOCAL,
    LONGEST_NAME,
    DataFolder,
    JobFiles,
    data_folder,
    display_name,
    safe_name,
)
from headgate.app.server_policy import ServerPolicy
from headgate.app.settings import Settings
from headgate.core.job import LOCAL_OWNER
from headgate.engine.clock import SystemClock
from headgate.ports.handler import JobView


@pytest.mark.parametrize(
    ("given_name", "kept"),
    [
        ("products.csv", "products.csv"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\ann\\list.xlsx", "list.xlsx"),
        (".htaccess", "htaccess"),
        ("a\0b\n.csv", "a_b_.csv"),
        ("größe 2 (neu).csv", "größe 2 (neu).csv"),
        ("..", ""),
        ("/", ""),
    ],
)
def test_names_lose_characters_with_a_meaning_in_a_path(given_name: str, kept: str):
    assert safe_name(given_name) == kept


@given(st.text(max_size=400))
def test_a_safe_name_is_one_part_of_a_path_and_stays_as_it_is(text: str):
    name = safe_name(text)
    assert len(name) <= LONGEST_NAME
    assert name not in {".", ".."}
    assert not set(name) & set("/\\\0\n\r")
    assert safe_name(name) == name


def test_a_name_that_people_read_is_not_shortened():
    name = "x" * 200 + " (final).csv"
    assert display_name(name) == name
    assert display_name("../" + name) == name


def test_an_ending_outlives_the_shortening():
    assert safe_name("x" * 500 + ".csv").endswith("x.csv")


def test_a_source_leads_back_to_its_file(tmp_path: Path):
    folder = DataFolder(tmp_path)
    upload = folder.new_upload()
    (upload / "rows.csv").write_text("n\n1\n")
    source = folder.source_of(upload, "rows.csv")
    assert folder.path_of(source) == upload / "rows.csv"
    assert folder.path_of(folder.source_of(upload)) == upload
    folder.remove_source(source)
    assert not upload.exists()


@pytest.mark.parametrize(
    "source",
    ["/etc/passwd", "upload:../../etc/passwd", "upload:abc/x", "upload:" + "a" * 32 + "/../x"],
)
def test_a_source_that_is_not_an_upload_has_no_file(tmp_path: Path, source: str):
    folder = DataFolder(tmp_path)
    with pytest.raises(ValueError, match="is not an upload"):
        folder.path_of(source)


def test_only_uploads_are_removed(tmp_path: Path):
    precious = tmp_path / "precious"
    precious.mkdir()
    DataFolder(tmp_path).remove_source(f"upload:../precious/{precious}")
    DataFolder(tmp_path).remove_source(str(precious))
    assert precious.exists()


def test_a_deleted_job_takes_all_its_files_along(tmp_path: Path):
    folder = DataFolder(tmp_path)
    upload = folder.new_upload()
    export = folder.export_file(7, 1, "csv")
    export.write_text("n\n")
    folder.copy_folder(7).mkdir(parents=True)
    folder.remove_job(7, folder.source_of(upload))
    left = [path for path in (upload, export, folder.copy_folder(7)) if path.exists()]
    assert left == []


def test_the_data_folder_is_beside_the_store_by_default(tmp_path: Path):
    beside = Settings(database_url=f"sqlite:///{tmp_path}/some.db")
    assert data_folder(beside).root == tmp_path / ".headgate-data"
    named = Settings(server=ServerPolicy(data_folder=str(tmp_path / "there")))
    assert data_folder(named).root == tmp_path / "there"


async def test_a_row_reaches_the_bytes_of_its_own_job_alone(tmp_path: Path):
    files = JobFiles(DataFolder(tmp_path), SystemClock())
    names = {}
    for space in ("7", "8", LOCAL):
        blobs = files.space(space)
        writer = await blobs.create()
        await writer.write(space.encode())
        names[space] = await writer.commit()
        await blobs.close()
    ours, anns = (JobView(7, "", owner, {}) for owner in (LOCAL_OWNER, "ann"))
    for job in (ours, anns):
        assert files.locate(job, names["7"]).read_bytes() == b"7"
        with pytest.raises(FileNotFoundError):
            files.locate(job, names["8"])
        with pytest.raises(ValueError, match="not the name of a blob"):
            files.locate(job, "../8/" + names["8"])
    # What `headgate run` keeps is not for users of a server, even if they know its hash.
    assert files.locate(ours, names[LOCAL]).read_bytes() == b"local"
    with pytest.raises(FileNotFoundError):
        files.locate(anns, names[LOCAL])
