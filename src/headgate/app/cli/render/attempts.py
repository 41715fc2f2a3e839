"""The attempts of an item as text: time, outcome, reason and calls."""

from collections.abc import Mapping

from headgate.app.cli.render.times import local_time, span
from headgate.core.words import counted
from headgate.schema.items import AttemptView, CallView

INDENT = " " * 6
FREE: Mapping[str, str] = {
    "throttled": "postponed, costs no attempt",
    "deferred": "deferred by the handler, costs no attempt",
    "crashed": "its process crashed, costs no attempt",
    "handed_back": "handed back, costs no attempt",
    "reused": "reused the result of an earlier item",
}
"""Outcomes that do not count as an attempt."""
COUNTED: Mapping[str, str] = {
    "retry": "failed ({}), will be retried",
    "error": "failed ({})",
    "not_found": "not found",
    "review": "needs a decision",
}
"""Outcomes that count as an attempt; `{}` is the error class."""


def timeline(attempt: AttemptView, *, verbose: bool = False, traced: bool = True) -> list[str]:
    """The lines for one attempt; `verbose` adds the strategy, the lease and the worker.

    Without `traced`, the failed line is named but the traceback is left out.
    """
    lines = [f"  {local_time(attempt.ended_at)}  {_what(attempt)}; {_times(attempt, verbose)}"]
    if verbose:
        about = f"strategy {attempt.strategy}, lease {attempt.epoch}, worker {attempt.worker}"
        lines.append(f"{INDENT}{about}")
    if attempt.reason:
        where = f" ({attempt.failed_at})" if attempt.failed_at else ""
        lines.append(f"{INDENT}{attempt.reason}{where}")
    lines += [f"{INDENT}{call_line(call)}" for call in attempt.calls]
    if attempt.traceback and traced:
        lines += [f"{INDENT}{line}".rstrip() for line in attempt.traceback.splitlines()]
    return lines


def _what(attempt: AttemptView) -> str:
    if attempt.outcome in FREE:
        return FREE[attempt.outcome]
    text = COUNTED.get(attempt.outcome)
    if text is not None:
        return f"attempt {attempt.number}: {text.format(attempt.error_class)}"
    kind = f" ({attempt.error_class})" if attempt.error_class else ""
    return f"attempt {attempt.number}: {attempt.outcome.replace('_', ' ')}{kind}"


def _times(attempt: AttemptView, verbose: bool) -> str:
    ran = f"ran {span(attempt.ran_ms / 1e3)}"
    waited = attempt.waited_ms / 1e3
    return f"waited {span(waited)}, {ran}" if verbose or waited >= 1 else ran


def call_line(call: CallView) -> str:
    answer = f"{call.status} {call.kind}" if call.status else str(call.kind)
    times = f"{counted(call.bytes, 'byte')} in {span(call.ran_ms / 1e3)}"
    waited = f", waited {span(call.waited_ms / 1e3)}" if call.waited_ms else ""
    cause = f" ({call.cause})" if call.cause else ""
    return f"{call.verb} {call.host}: {answer}, {times}{waited}{cause}"
