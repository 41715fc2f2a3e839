"""Stored bytes of jobs: each job has a place of its own, which goes with it."""

from pathlib import Path

from headgate.app.data_folder import DataFolder
from headgate.ports.clock import Clock
from headgate.transfer.blobs import LocalBlobs

LOCAL = "local"
"""Where `headgate run` keeps them: it reads a file before it knows its job."""


class JobFiles:
    """Finds the bytes that a row of a job names, and no others."""

    def __init__(self, folder: DataFolder, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock

    def space(self, name: str) -> LocalBlobs:
        """Where the bytes of one job lie."""
        return LocalBlobs(self._folder.blobs / name, self._clock)

    def locate(self, job_id: int, name: str) -> Path:
        """The file: ValueError for what is no name, FileNotFoundError when it is gone."""
        try:
            return self.space(str(job_id)).locate(name)
        except FileNotFoundError:
            return self.space(LOCAL).locate(name)
