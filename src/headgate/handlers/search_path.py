"""The search path for users' modules.

A file `random.py` or `aiohttp.py` in a project must not replace the module that Headgate and all
packages know by that name. So a project's folder is last on the path. Only while a handler is
imported does the folder come before installed packages, but after Python's own modules: the modules
beside a handler are then found first.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STANDARD_LIBRARY = str(Path(os.__file__).parent)
STANDARD_PATHS = frozenset({STANDARD_LIBRARY, str(Path(STANDARD_LIBRARY, "lib-dynload"))})


def add_folder(folder: Path) -> None:
    """Let the modules of a folder be found, after all others."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


@contextmanager
def importing_from(folder: Path) -> Iterator[None]:
    """Prefer the modules of a folder to installed packages within the block."""
    add_folder(folder)
    text = str(folder)
    places = [place for place, entry in enumerate(sys.path) if entry in STANDARD_PATHS]
    sys.path.insert(places[-1] + 1 if places else 0, text)
    try:
        yield
    finally:
        if text in sys.path:  # the handler may have changed it
            sys.path.remove(text)
        add_folder(folder)


def is_hidden(name: str) -> bool:
    return name.partition(".")[0] in sys.stdlib_module_names
