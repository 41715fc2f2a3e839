"""Checks that the handlers of jobs can be loaded, before workers start."""

import os

from headgate.app.cli.runtime import CliContext
from headgate.app.handler_finder import HandlerFinder, unloadable
from headgate.app.settings import Settings
from headgate.core.errors import UnknownHandler
from headgate.core.job import Job
from headgate.core.status import UNFINISHED
from headgate.ports.handler import HandlerSpec
from headgate.ports.reads import JobQuery
from headgate.ports.store import Store

PAGE = 500


def require_loadable(settings: Settings, job: Job) -> HandlerSpec:
    """The handler of a job. An UnknownHandler error says what to do."""
    try:
        return HandlerFinder(settings, os.environ)(job.handler)
    except UnknownHandler as error:
        raise UnknownHandler(unloadable(job, str(error))) from error


async def loadable(
    cli: CliContext,
    settings: Settings,
    store: Store,
    chosen: tuple[int, ...] | None,
    *,
    drain: bool,
) -> tuple[int, ...] | None:
    """The jobs to work on; None means all jobs, also future ones.

    Warns of jobs whose handler cannot be loaded. With `drain` these jobs are left out, because
    the command would never end. UnknownHandler if all chosen jobs fail to load.
    """
    if chosen is None:
        jobs = await _unfinished(store)
    else:
        jobs = [await store.reads.job(job_id) for job_id in chosen]
    able, problems = [], []
    for job in jobs:
        try:
            require_loadable(settings, job)
        except UnknownHandler as error:
            problems.append(error)
        else:
            able.append(job.id)
    if problems and chosen is not None and not able:
        raise problems[0]
    for problem in problems:
        cli.screen.warn(str(problem))
    if not problems:
        return chosen
    return tuple(able) if drain or chosen is not None else None


async def _unfinished(store: Store) -> list[Job]:
    found: list[Job] = []
    after_id = 0
    while page := await store.reads.jobs(
        JobQuery(states=UNFINISHED, after_id=after_id, limit=PAGE, configs=False)
    ):
        found += page
        after_id = page[-1].id
    return found
