"""What is said of jobs whose handler is not there any more."""

from headgate.core.gates.wait import AT_GATES, Wait, WaitKind
from headgate.core.job import Job
from headgate.core.status import UNFINISHED
from headgate.handlers.presence import problem_of


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
