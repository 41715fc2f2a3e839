"""The program that writes the generated parts of the reference, as a module."""

import importlib.util
import sys
from functools import cache
from types import ModuleType

from tests.kit.pages import ROOT


@cache
def load_generator() -> ModuleType:
    """`docs/generate.py`, which finds its parts in its own folder."""
    sys.path.append(str(ROOT / "docs"))
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
