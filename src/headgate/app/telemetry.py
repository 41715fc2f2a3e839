"""Logging: its set-up and the observer that writes to it. Never payloads, never secrets."""

import logging
import sys
import threading
import warnings
from collections.abc import Mapping, MutableMapping
from types import TracebackType
from typing import Any, TextIO

from headgate.app.streams import LOST
from headgate.core.errors import UsageError
from headgate.core.item import ClaimedItem
from headgate.core.redact_values import values_without_secrets
from headgate.core.settlement import Settlement
from headgate.core.status import ItemStatus
from headgate.core.trace import trace_in
from headgate.ports.handler import Logger

LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}


class ProcessLog:
    """The log of this process. structlog writes it and is imported for the first visible line.

    Most processes never write one, and importing structlog takes longer than they run. Logging
    never raises: a line that cannot be written is dropped and counted; the next one is tried again.
    """

    def __init__(self) -> None:
        self.set_up("warning", "text")

    def set_up(self, level: str, log_format: str, stream: TextIO | None = None) -> None:
        self._threshold = LEVELS[level]
        self._format = log_format
        self._stream = stream
        self._writer: Logger | None = None
        self._reported = LOST.lines

    def debug(self, event: str, **facts: object) -> None:
        self.write(logging.DEBUG, event, **facts)

    def info(self, event: str, **facts: object) -> None:
        self.write(logging.INFO, event, **facts)

    def warning(self, event: str, **facts: object) -> None:
        self.write(logging.WARNING, event, **facts)

    def error(self, event: str, **facts: object) -> None:
        self.write(logging.ERROR, event, **facts)

    def write(self, level: int, event: str, /, **facts: object) -> None:
        if level < self._threshold:
            return
        lost = LOST.lines
        try:
            self._line(level, event, facts)
            if LOST.lines == lost and lost != self._reported:
                missing, self._reported = lost - self._reported, lost
                self._line(logging.WARNING, "log lines could not be written", {"lines": missing})
        except Exception:  # noqa: BLE001  logging never raises, whatever the stream does
            LOST.lines += 1

    def _line(self, level: int, event: str, facts: Mapping[str, object]) -> None:
        if self._writer is None:
            self._writer = _writer(self._format, self._stream or sys.stderr)
        name = "error" if level >= logging.ERROR else logging.getLevelName(level).lower()
        getattr(self._writer, name if name in LEVELS else "info")(event, **facts)


LOG = ProcessLog()


def configure(level: str, log_format: str, stream: TextIO | None = None) -> None:
    LOG.set_up(level, log_format, stream)
    logging.lastResort = _ToLog(logging.WARNING)


def logger() -> Logger:
    return LOG


class _ToLog(logging.Handler):
    """Writes log records of libraries to our log if `logging` is not configured."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            event = record.getMessage()
        except Exception:  # noqa: BLE001  a library's arguments may not match its message
            event = str(record.msg)
        facts = {"exc_info": record.exc_info} if record.exc_info else {}
        LOG.write(record.levelno, event, logger=record.name, **facts)


def catch_strays() -> None:
    """Log uncaught errors and warnings, which Python would print."""

    def uncaught(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        LOG.error("uncaught error", exc_info=(kind, error, trace))

    def in_thread(hook: threading.ExceptHookArgs) -> None:
        name = hook.thread.name if hook.thread else ""
        error = (hook.exc_type, hook.exc_value, hook.exc_traceback)
        LOG.error("a thread failed", thread=name, exc_info=error)

    def unraisable(hook: "sys.UnraisableHookArgs") -> None:
        error = (hook.exc_type, hook.exc_value, hook.exc_traceback)
        LOG.error(hook.err_msg or "an error was ignored", exc_info=error)

    def warned(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,  # noqa: ARG001  the signature is fixed
        line: str | None = None,  # noqa: ARG001  the signature is fixed
    ) -> None:
        LOG.warning(str(message), category=category.__name__, where=f"{filename}:{lineno}")

    sys.excepthook = uncaught
    threading.excepthook = in_thread
    sys.unraisablehook = unraisable
    warnings.showwarning = warned


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
    """Hide credentials: by the name of a field, or inside its text or value."""
    for name, value in event.items():
        event[name] = values_without_secrets(value, name)
    return event


class LogObserver:
    """Writes the events of the observer port to the log.

    The level is read once: an item costs nothing if its events are not logged.
    """

    def __init__(self, level: str) -> None:
        threshold = LEVELS[level]
        self._log = logger()
        self._debug = threshold <= logging.DEBUG
        self._info = threshold <= logging.INFO
        self._warning = threshold <= logging.WARNING

    def verb(self, name: str, seconds: float, rows: int, error: BaseException | None) -> None:
        """Log a store failure as a warning, a refused request as info, all else as debug."""
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
        if self._debug:
            self._log.debug("attempt started", **_item_fields(item, handler))

    def ended(self, item: ClaimedItem, handler: str, settlement: Settlement) -> None:
        """Log success at debug level, anything else at info level."""
        if settlement.error_class is None and settlement.status is not ItemStatus.PENDING:
            if self._debug:
                self._log.debug(
                    "attempt ended", **_item_fields(item, handler), **_outcome(settlement)
                )
        elif self._info:
            event = "attempt failed" if settlement.error_class else "attempt postponed"
            self._log.info(
                event,
                **_item_fields(item, handler),
                **_outcome(settlement),
                error_class=settlement.error_class,
                reason=settlement.reason,
                due_in_s=settlement.due_in_us / 1_000_000,
                **_place(settlement),
            )

    def changed(self, what: str, **facts: object) -> None:
        if self._info:
            self._log.info(what, **facts)


def _item_fields(item: ClaimedItem, handler: str) -> dict[str, object]:
    return {
        "job": item.job_id,
        "item": item.id,
        "attempt": item.attempts + 1,
        "epoch": item.epoch,
        "handler": handler,
    }


def _place(settlement: Settlement) -> dict[str, object]:
    """Where the handler failed; `exception` is shown below the line in the text format."""
    trace = trace_in(settlement.trace)
    return {} if trace is None else {"where": trace.where, "exception": trace.text}


def _outcome(settlement: Settlement) -> dict[str, object]:
    return {
        "outcome": settlement.outcome,
        "status": str(settlement.status),
        "ran_ms": settlement.ran_us / 1000,
    }
