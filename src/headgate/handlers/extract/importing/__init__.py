"""Descriptions of other tools as sources: manifests of Airbyte, configurations of dlt."""

from headgate.handlers.extract.importing.airbyte import import_airbyte, read_manifest
from headgate.handlers.extract.importing.dlt import import_dlt, read_config
from headgate.handlers.extract.importing.imported import ImportedSource, LeftOut
from headgate.handlers.extract.importing.toml_text import source_text

__all__ = [
    "ImportedSource",
    "LeftOut",
    "import_airbyte",
    "import_dlt",
    "read_config",
    "read_manifest",
    "source_text",
]
