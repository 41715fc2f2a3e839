"""The life of a process behind the API: it is briefed, works until told to stop, and ends."""

import os
import sys
import traceback
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from headgate.app.leash import be_deaf, briefing_on, die_with_parent, take_leash
from headgate.app.loop import load_undisturbed, run_async
from headgate.app.settings import Settings
from headgate.app.telemetry import configure
from headgate.handlers.search_path import add_folder

Service = Callable[[Settings, BinaryIO], Coroutine[Any, Any, None]]
"""What it does, given its settings and its leash."""


def work_as(service: Service) -> None:
    """Do it until told to stop; the process ends here, whatever still runs in it."""
    load_undisturbed()
    die_with_parent()
    be_deaf()
    leash = take_leash()
    settings = msgspec.json.decode(briefing_on(leash), type=Settings)
    configure(settings.log.level, settings.log.format)
    # Handlers named by module are found from where the command was given.
    add_folder(Path.cwd())
    code = 1
    try:
        run_async(service(settings, leash))
        code = 0
    except BaseException:  # noqa: BLE001  the last word of a process
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(code)
