"""Where Python looks for the users' modules.

A file `random.py` or `aiohttp.py` in a project must not take the place of the module that Headgate
and all packages know by that name. So a project's folder stands at the end. Only while a handler is
imported does it stand in front of installed packages, behind Python's own modules: what lies beside
a handler is then found first.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STANDARD_LIBRARY = str(Path(os.__file__).parent)
OWN_OF_PYTHON = frozenset({STANDARD_LIBRARY, str(Path(STANDARD_LIBRARY, "lib-dynload"))})


def add_folder(folder: Path) -> None:
    """Let the modules of a folder be found where nothing else has their name."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


@contextmanager
def importing_from(folder: Path) -> Iterator[None]:
    """Prefer the modules of a folder to installed packages meanwhile, and know them afterwards."""
    add_folder(folder)
    text = str(folder)
    places = [place for place, entry in enumerate(sys.path) if entry in OWN_OF_PYTHON]
    sys.path.insert(places[-1] + 1 if places else 0, text)
    try:
        yield
    finally:
        if text in sys.path:  # the handler may have changed it
            sys.path.remove(text)
        add_folder(folder)


def is_hidden(name: str) -> bool:
    """Whether Python has a module of its own of this name."""
    return name.partition(".")[0] in sys.stdlib_module_names
