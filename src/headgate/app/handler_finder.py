"""Finds handlers, with what the settings say about those that are shipped."""

import importlib
from collections.abc import Mapping
from functools import partial

import msgspec

from headgate.app.settings import Settings
from headgate.core.gates.wait import AT_GATES, Wait, WaitKind
from headgate.core.job import Job
from headgate.core.status import UNFINISHED
from headgate.handlers.presence import problem_of
from headgate.handlers.registry import DOWNLOAD, resolve
from headgate.ports.handler import HandlerSpec


class HandlerFinder:
    """Finds them as the processes of one project do."""

    def __init__(self, settings: Settings, environment: Mapping[str, str]) -> None:
        """The environment tells which keys of services are there."""
        self._settings = settings
        self._environment = environment

    def __call__(self, reference: str) -> HandlerSpec:
        """The handler, or UnknownHandler saying what was tried."""
        spec = resolve(reference, self._settings.handlers)
        return self._download(spec) if spec.reference == DOWNLOAD else spec

    def _download(self, spec: HandlerSpec) -> HandlerSpec:
        # Loaded by then; most commands never ask for it.
        download = importlib.import_module("headgate.handlers.download.handler")
        settings = self._settings
        known = download.Known(
            settings.download, settings.providers, self._environment, settings.net.user_agent
        )
        return msgspec.structs.replace(spec, for_job=partial(download.of_config, known=known))


def handler_wait(job: Job) -> Wait | None:
    """The wait of a job whose handler cannot be loaded on this machine; None if it can."""
    if job.state not in UNFINISHED:
        return None
    problem = problem_of(job.handler)
    return Wait(WaitKind.WORKER, unloadable(job, problem)) if problem else None


def item_wait(job: Job, wait: Wait | None) -> Wait | None:
    """What an item waits for: its handler, where it would wait for its turn or a worker only."""
    if wait is None or wait.kind not in AT_GATES | {WaitKind.TURN, WaitKind.WORKER}:
        return wait
    return handler_wait(job) or wait


def unloadable(job: Job, problem: str) -> str:
    """That a handler cannot be loaded, why, and what to do."""
    return (
        f"the handler {job.handler} of job {job.id} cannot be loaded: {problem};"
        f" put it back, or name where it is now: {rebinding(job)}"
    )


def rebinding(job: Job) -> str:
    """The command that gives a job another handler."""
    return f"headgate jobs rebind {job.id} path/to/file.py:function"
