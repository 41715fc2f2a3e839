"""Commands that believe what FAKETIME says about the time of day."""

import os
from pathlib import Path

import pytest


def preload(environment: dict[str, str]) -> None:
    """Let commands with this environment load libfaketime; without it a test has no subject."""
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    if not found:
        missing = "libfaketime is missing; `make services` installs it"
        if os.environ.get("CI") == "true":
            pytest.fail(missing, pytrace=False)
        pytest.skip(missing)
    environment["LD_PRELOAD"] = str(found[-1])
