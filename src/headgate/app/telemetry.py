"""Logs: how they are written, and the observer that writes them. Never payloads, never secrets."""

import logging
import re
import sys
from collections.abc import MutableMapping
from typing import Any, TextIO

from headgate.core import secret
from headgate.core.errors import UsageError
from headgate.core.item import ClaimedItem
from headgate.core.settlement import Settlement
from headgate.core.status import ItemStatus
from headgate.core.trace import trace_in
from headgate.ports.handler import Logger

redacted = secret.redacted
SECRET_NAME = re.compile(r"(?i)passw|secret|token|api[_-]?key|authorization|credential|cookie")

LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}


class ProcessLog:
    """The log of this process: structlog writes it, and is loaded for the first line that shows.

    Most processes never write one, and structlog takes longer to load than they run.
    """

    def __init__(self) -> None:
        self.set_up("warning", "text")

    def set_up(self, level: str, log_format: str, stream: TextIO | None = None) -> None:
        """Choose what is written and how; on standard error unless told otherwise."""
        self._threshold = LEVELS[level]
        self._format = log_format
        self._stream = stream
        self._writer: Logger | None = None

    def debug(self, event: str, **facts: object) -> None:
        """Log detail."""
        if self._threshold <= logging.DEBUG:
            self._lines().debug(event, **facts)

    def info(self, event: str, **facts: object) -> None:
        """Log news."""
        if self._threshold <= logging.INFO:
            self._lines().info(event, **facts)

    def warning(self, event: str, **facts: object) -> None:
        """Log something odd."""
        if self._threshold <= logging.WARNING:
            self._lines().warning(event, **facts)

    def error(self, event: str, **facts: object) -> None:
        """Log a failure."""
        self._lines().error(event, **facts)

    def _lines(self) -> Logger:
        if self._writer is None:
            self._writer = _writer(self._format, self._stream or sys.stderr)
        return self._writer


LOG = ProcessLog()


def configure(level: str, log_format: str, stream: TextIO | None = None) -> None:
    """Set up the log of this process; it goes to standard error, where all talk goes."""
    LOG.set_up(level, log_format, stream)


def logger() -> Logger:
    """A logger for handlers and for the machinery."""
    return LOG


def _writer(log_format: str, target: TextIO) -> Logger:
    import structlog  # noqa: PLC0415  see ProcessLog

    renderer: structlog.typing.Processor
    if log_format == "json":
        renderer = structlog.processors.JSONRenderer()
    else:
        renderer = structlog.dev.ConsoleRenderer(colors=target.isatty(), pad_event_to=0)
    writer: Logger = structlog.wrap_logger(
        structlog.WriteLogger(target),
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            hide_secrets,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG),
    )
    return writer


def hide_secrets(
    _logger: object,
    _method: str,
    event: MutableMapping[str, Any],
) -> MutableMapping[str, Any]:
    """Blot out credentials, whoever logged them: by the name of a fact, or inside its text."""
    for name, value in event.items():
        if SECRET_NAME.search(name):
            event[name] = "***"
        elif isinstance(value, str):
            event[name] = redacted(value)
    return event


class LogObserver:
    """Writes what passes the observer port to the log.

    The level is read once: an item costs nothing when nobody would see it.
    """

    def __init__(self, level: str) -> None:
        threshold = LEVELS[level]
        self._log = logger()
        self._debug = threshold <= logging.DEBUG
        self._info = threshold <= logging.INFO
        self._warning = threshold <= logging.WARNING

    def verb(self, name: str, seconds: float, rows: int, error: BaseException | None) -> None:
        """A store that fails is worth a warning, a refused request is news, all else detail."""
        if error is None:
            if self._debug:
                self._log.debug("store verb", verb=name, ms=round(seconds * 1000, 3), rows=rows)
            return
        facts = {"verb": name, "error": type(error).__name__, "reason": str(error)}
        if isinstance(error, UsageError):
            if self._info:
                self._log.info("store verb refused", **facts)
        elif self._warning:
            self._log.warning("store verb failed", **facts)

    def started(self, item: ClaimedItem, handler: str) -> None:
        """Detail: an attempt began."""
        if self._debug:
            self._log.debug("attempt started", **_facts(item, handler))

    def ended(self, item: ClaimedItem, handler: str, settlement: Settlement) -> None:
        """Detail for what went well; news for what did not."""
        if settlement.error_class is None and settlement.status is not ItemStatus.PENDING:
            if self._debug:
                self._log.debug("attempt ended", **_facts(item, handler), **_outcome(settlement))
        elif self._info:
            event = "attempt failed" if settlement.error_class else "attempt put off"
            self._log.info(
                event,
                **_facts(item, handler),
                **_outcome(settlement),
                error_class=settlement.error_class,
                reason=settlement.reason,
                due_in_s=settlement.due_in_us / 1_000_000,
                **_place(settlement),
            )

    def changed(self, what: str, **facts: object) -> None:
        """News of the run."""
        if self._info:
            self._log.info(what, **facts)


def _facts(item: ClaimedItem, handler: str) -> dict[str, object]:
    return {
        "job": item.job_id,
        "item": item.id,
        "attempt": item.attempts + 1,
        "epoch": item.epoch,
        "handler": handler,
    }


def _place(settlement: Settlement) -> dict[str, object]:
    """Where the handler failed; `exception` is what the log's text form shows on lines below."""
    trace = trace_in(settlement.trace)
    return {} if trace is None else {"where": trace.where, "exception": trace.text}


def _outcome(settlement: Settlement) -> dict[str, object]:
    return {
        "outcome": settlement.outcome,
        "status": str(settlement.status),
        "ran_ms": settlement.ran_us / 1000,
    }
