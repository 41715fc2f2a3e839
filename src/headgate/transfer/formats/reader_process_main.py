"""The reader process: it limits its own memory, then reads the file named on standard input."""

import gc
import resource
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import cast

import msgspec

from headgate.core.errors import BadSource
from headgate.transfer.formats.reader_messages import Message, ReadFailed, ReadOrder, send


def main() -> None:
    gc.disable()  # millions of cells, and no cycles to collect
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=ReadOrder)
    limit = order.limits.max_memory_bytes
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    out = sys.stdout.buffer
    try:
        for message in _reader(order.format)(order):
            send(out, message)
    except BadSource as error:
        send(out, ReadFailed(str(error)))
    except MemoryError:
        most = f"{limit / 1024**2:,.0f} MiB"
        send(out, ReadFailed(f"{order.path} cannot be read in {most} of memory: save it as CSV"))
    except BrokenPipeError:
        sys.stderr.close()  # the parent process has ended


def _reader(name: str) -> Callable[[ReadOrder], Iterator[Message]]:
    # Each reader imports a large, optional library.
    module = import_module(f"headgate.transfer.formats.{name}_rows")
    return cast("Callable[[ReadOrder], Iterator[Message]]", module.read)


if __name__ == "__main__":
    main()
