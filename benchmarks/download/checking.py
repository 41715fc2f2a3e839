"""Whether a contender really has the files: a rate of something else would mean nothing."""

from __future__ import annotations

import filecmp
from collections.abc import Mapping
from pathlib import Path

from benchmarks.measurement import FailedError


def check(found: Mapping[str, Path], site: Mapping[str, Path]) -> None:
    """Every URL of the site must have its file, to the last byte."""
    for url, original in site.items():
        file = found.get(url)
        if file is None or not file.is_file():
            raise FailedError(f"{url} was not fetched")
        if not filecmp.cmp(original, file, shallow=False):
            raise FailedError(f"{url} was fetched with other bytes")
