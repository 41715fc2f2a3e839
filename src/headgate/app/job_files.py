"""Stored bytes of jobs: each job has a place of its own, which goes with it."""

from pathlib import Path

from headgate.app.data_folder import DataFolder
from headgate.core.job import LOCAL_OWNER
from headgate.ports.clock import Clock
from headgate.ports.handler import JobInfo
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

    def locate(self, job: JobInfo, name: str) -> Path:
        """The file: ValueError for what is no name, FileNotFoundError when it is gone.

        What `headgate run` keeps is for jobs of its owner: a user who knows the hash of a file
        could otherwise have it sent by a job of their own.
        """
        try:
            return self.space(str(job.id)).locate(name)
        except FileNotFoundError:
            if job.owner != LOCAL_OWNER:
                raise
            return self.space(LOCAL).locate(name)
