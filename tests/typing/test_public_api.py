"""The public API under mypy, as users would run it."""

from pathlib import Path

import pytest
from mypy import api


@pytest.mark.slow
def test_users_code_passes_mypy_strict():
    source = Path(__file__).with_name("public_api.py")
    root = source.parents[2]
    said, complaints, status = api.run(
        [
            "--strict",
            "--no-error-summary",
            "--config-file",
            str(root / "pyproject.toml"),
            str(source),
        ],
    )
    assert (said, complaints, status) == ("", "", 0)
