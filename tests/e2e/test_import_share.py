"""How many of Airbyte's public manifests can be imported whole.

The manifests belong to others and are not kept here: HEADGATE_PEER_DATA names a folder with a
checkout of them in `airbyte/`.
"""

import os
from pathlib import Path

import pytest

from headgate.core.errors import UsageError
from headgate.handlers.extract import parse_source
from headgate.handlers.extract.importing import import_airbyte, read_manifest

pytestmark = pytest.mark.soak
NEEDED = 0.45
"""The share of manifests of which no stream is left out."""


def manifests() -> list[Path]:
    folder = os.environ.get("HEADGATE_PEER_DATA")
    if not folder:
        pytest.skip("HEADGATE_PEER_DATA names no folder with the manifests of Airbyte")
    return sorted(Path(folder, "airbyte").rglob("source-*/manifest.yaml"))


def is_whole(path: Path) -> bool:
    try:
        found = import_airbyte(read_manifest(path), path.parent.name.removeprefix("source-"))
    except UsageError:
        return False
    if found.tree:
        parse_source(found.tree)
    return bool(found.tree) and not found.left_out


def test_nearly_half_of_the_manifests_of_airbyte_are_imported_whole():
    found = manifests()
    assert len(found) > 400, "the folder does not have the manifests"
    whole = sum(map(is_whole, found))
    assert whole >= NEEDED * len(found), f"{whole} of {len(found)} manifests are imported whole"
