"""Folders where the server stores files: uploads, copies of remote sources, images, exports."""

import re
import secrets
import shutil
import unicodedata
from pathlib import Path

from headgate.app.settings import Settings
from headgate.app.wiring import sqlite_path, store_kind
from headgate.core.job import LOCAL_OWNER
from headgate.ports.clock import Clock
from headgate.ports.handler import JobView
from headgate.transfer.blobs import LocalBlobs

UPLOAD = "upload:"
"""Prefix of a job's source that is an uploaded file."""
LONGEST_NAME = 120
LONGEST_SHOWN = 255
_ODD = re.compile(r"[^\w.\- ()\[\]+,@]")
_ID = re.compile(r"[0-9a-f]{32}")


class DataFolder:
    """A folder for each upload and each remote source; the sender does not choose its name."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.uploads = root / "uploads"
        self.exports = root / "exports"
        self.blobs = root / "blobs"
        self.copies = root / "copies"

    def new_upload(self) -> Path:
        folder = self.uploads / secrets.token_hex(16)
        folder.mkdir(parents=True, mode=0o700)
        return folder

    def source_of(self, folder: Path, name: str = "") -> str:
        return f"{UPLOAD}{folder.name}/{name}"

    def path_of(self, source: str) -> Path:
        folder, _, name = source.removeprefix(UPLOAD).partition("/")
        if not source.startswith(UPLOAD) or not _ID.fullmatch(folder) or name != safe_name(name):
            raise ValueError(f"{source!r} is not an upload")
        return self.uploads / folder / name

    def remove_source(self, source: str) -> None:
        folder = source.removeprefix(UPLOAD).partition("/")[0]
        if source.startswith(UPLOAD) and _ID.fullmatch(folder):
            shutil.rmtree(self.uploads / folder, ignore_errors=True)

    def copy_folder(self, job_id: int) -> Path:
        return self.copies / str(job_id)

    def remove_copy(self, job_id: int) -> None:
        shutil.rmtree(self.copy_folder(job_id), ignore_errors=True)

    def export_file(self, job_id: int, export_id: int, ending: str) -> Path:
        folder = self.exports / str(job_id)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return folder / f"{export_id}.{ending}"

    def without_paths(self, text: str) -> str:
        """A text for clients: file names without the server's paths."""
        root = re.escape(str(self.root))
        return re.sub(rf"{root}/(?:uploads/[0-9a-f]{{32}}|copies/\d+)/?", "", text)

    def remove_job(self, job_id: int, source: str) -> None:
        self.remove_source(source)
        self.remove_copy(job_id)
        for folder in (self.exports, self.blobs):
            shutil.rmtree(folder / str(job_id), ignore_errors=True)


def data_folder(settings: Settings) -> DataFolder:
    """The folder from the settings, else one beside the SQLite file or in the current folder."""
    if settings.server.data_folder:
        return DataFolder(Path(settings.server.data_folder).resolve())
    beside = Path()
    if store_kind(settings.database_url) == "sqlite":
        beside = Path(sqlite_path(settings.database_url)).parent
    return DataFolder((beside / ".headgate-data").resolve())


def display_name(name: str) -> str:
    """A file's name for display; it may be longer than a file system allows."""
    plain = unicodedata.normalize("NFC", name).replace("\\", "/").rpartition("/")[2]
    return _cut(_ODD.sub("_", plain).strip(". "), LONGEST_SHOWN)


def safe_name(name: str) -> str:
    """A file's name without anything that has a meaning to a file system."""
    return _cut(display_name(name), LONGEST_NAME)


def _cut(name: str, limit: int) -> str:
    """The name, at most `limit` characters long; its ending stays."""
    if len(name) <= limit:
        return name
    stem, dot, ending = name.rpartition(".")
    ending = f"{dot}{ending}" if dot and len(ending) < 10 else ""
    return (stem or name)[: limit - len(ending)] + ending


LOCAL = "local"
"""Name of the blob folder for `headgate run`, which reads a file before it knows its job."""


class JobFiles:
    """Finds the blobs that a row of a job refers to, and no others."""

    def __init__(self, folder: DataFolder, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock

    def space(self, name: str) -> LocalBlobs:
        return LocalBlobs(self._folder.blobs / name, self._clock)

    def locate(self, job: JobView, name: str) -> Path:
        """Path of a blob: ValueError for an invalid name, FileNotFoundError if it is gone.

        Blobs of `headgate run` are only for jobs of the local owner: otherwise a user who knows a
        file's hash could get the file through a job of their own.
        """
        try:
            return self.space(str(job.id)).locate(name)
        except FileNotFoundError:
            if job.owner != LOCAL_OWNER:
                raise
            return self.space(LOCAL).locate(name)
