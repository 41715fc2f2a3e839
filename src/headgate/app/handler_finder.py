"""Find handlers, and pass the settings to the built-in ones."""

import importlib
from collections.abc import Mapping
from functools import partial

import msgspec

from headgate.app.settings import Settings
from headgate.core.gates.wait import AT_GATES, Wait, WaitKind
from headgate.core.job import Job
from headgate.core.status import UNFINISHED
from headgate.handlers.presence import handler_problem
from headgate.handlers.registry import DOWNLOAD, resolve
from headgate.ports.handler import HandlerSpec


class HandlerFinder:
    def __init__(self, settings: Settings, environment: Mapping[str, str]) -> None:
        """Keys of services are read from `environment`."""
        self._settings = settings
        self._environment = environment

    def __call__(self, reference: str) -> HandlerSpec:
        """The handler; raises UnknownHandler with what was tried."""
        spec = resolve(reference, self._settings.handlers)
        return self._download(spec) if spec.reference == DOWNLOAD else spec

    def _download(self, spec: HandlerSpec) -> HandlerSpec:
        # Imported by then; most commands never use it.
        download = importlib.import_module("headgate.handlers.download.handler")
        settings = self._settings
        deps = download.DownloadDeps(
            settings.download, settings.providers, self._environment, settings.net.user_agent
        )
        return msgspec.structs.replace(spec, for_job=partial(download.of_config, deps=deps))


def handler_wait(job: Job) -> Wait | None:
    """The wait of a job whose handler cannot be loaded on this machine; None if it can."""
    if job.state not in UNFINISHED:
        return None
    problem = handler_problem(job.handler)
    return Wait(WaitKind.WORKER, unloadable_text(job, problem)) if problem else None


def item_wait(job: Job, wait: Wait | None) -> Wait | None:
    """The handler's wait, if the item would otherwise wait for a gate, its turn or a worker."""
    if wait is None or wait.kind not in AT_GATES | {WaitKind.TURN, WaitKind.WORKER}:
        return wait
    return handler_wait(job) or wait


def unloadable_text(job: Job, problem: str) -> str:
    return (
        f"the handler {job.handler} of job {job.id} cannot be loaded: {problem};"
        f" restore it, or give its new place: {rebind_command(job.id)}"
    )


def rebind_command(job_id: int | str) -> str:
    return f"headgate jobs rebind {job_id} path/to/file.py:function"
