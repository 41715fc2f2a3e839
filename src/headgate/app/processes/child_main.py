"""Main function of a server's child process: read the settings, work until stopped, exit."""

import os
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from headgate.app import streams
from headgate.app.event_loop import run_async
from headgate.app.processes.control_pipe import (
    die_with_parent,
    ignore_signals,
    read_config,
    take_stdin,
)
from headgate.app.settings import Settings
from headgate.app.telemetry import catch_strays, configure, logger
from headgate.handlers.search_path import add_folder


class LifeSigns:
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        os.set_blocking(descriptor, False)
        os.set_inheritable(descriptor, False)  # noqa: FBT003  its only form

    def __call__(self, name: str) -> None:
        """Send one sign; a slow or missing reader misses it."""
        with suppress(OSError):
            os.write(self._descriptor, f"{name}\n".encode())


Service = Callable[[Settings, BinaryIO, LifeSigns], Coroutine[Any, Any, None]]
"""Work of a child process, given its settings, its control pipe and its signs of life."""


def run_child(service: Service) -> None:
    """Run a service until told to stop; the process exits here, whatever still runs in it."""
    die_with_parent()
    ignore_signals()
    streams.go_on_without_readers(stdout=True)
    signs = LifeSigns(int(sys.argv[1]))
    control_pipe = take_stdin()
    settings = msgspec.json.decode(read_config(control_pipe), type=Settings)
    configure(settings.log.level, settings.log.format)
    catch_strays()
    # Handlers named by module are found from the current folder.
    add_folder(Path.cwd())
    code = 1
    try:
        run_async(service(settings, control_pipe, signs))
        code = 0
    except BaseException as error:  # noqa: BLE001  the process logs it and exits
        logger().error("a process of the server failed", exc_info=error)
    streams.flush()
    os._exit(code)
