"""The reading process itself: it caps its own memory, then reads what standard input names."""

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
    """Read as ordered, and tell standard output."""
    gc.disable()  # there are no cycles here, only millions of cells
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
        sys.stderr.close()  # whoever asked is gone


def _reader(name: str) -> Callable[[ReadOrder], Iterator[Message]]:
    # Each needs a library that is heavy, and may be absent.
    module = import_module(f"headgate.transfer.formats.{name}_rows")
    return cast("Callable[[ReadOrder], Iterator[Message]]", module.read)


if __name__ == "__main__":
    main()
