"""The process that inspects files for the API, one after another; see `inspections`."""

import resource
import sys
from pathlib import Path

import msgspec

from headgate.app.processes.control_pipe import die_with_parent, ignore_signals
from headgate.core.errors import BadSource, UsageError, WrongEncoding
from headgate.transfer.formats.reader_messages import LENGTH
from headgate.transfer.inspection import Inspection, inspect
from headgate.transfer.limits import Limits
from headgate.transfer.sources import ReadOptions


class InspectionOrder(msgspec.Struct, frozen=True):
    """One line on the standard input of the process."""

    path: str
    options: ReadOptions
    limits: Limits


class Inspected(msgspec.Struct, frozen=True, tag="inspected"):
    found: Inspection


class InspectionRefused(msgspec.Struct, frozen=True, tag="refused"):
    """The file cannot be read."""

    reason: str
    wrong_encoding: bool = False
    fits: str | None = None
    """An encoding that fits, if the file has another one than the options name."""


Reply = Inspected | InspectionRefused


def reply_to(order: InspectionOrder) -> Reply:
    try:
        return Inspected(inspect(Path(order.path), order.options, order.limits))
    except WrongEncoding as error:
        return InspectionRefused(str(error), wrong_encoding=True, fits=error.fits)
    except (BadSource, UsageError) as error:
        return InspectionRefused(str(error))
    except MemoryError:
        most = f"{order.limits.max_memory_bytes / 1024**2:,.0f} MiB"
        return InspectionRefused(f"{order.path} cannot be read in {most} of memory: split it")


def main() -> None:
    die_with_parent()
    ignore_signals()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for line in sys.stdin.buffer:
        order = msgspec.json.decode(line, type=InspectionOrder)
        limit = order.limits.max_memory_bytes
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        data = msgspec.json.encode(reply_to(order))
        sys.stdout.buffer.write(LENGTH.pack(len(data)) + data)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
