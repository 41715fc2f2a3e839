"""Writes a source to a file that its user will edit."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from headgate.app.extract.opening import ENDING
from headgate.core.errors import UsageError
from headgate.handlers.extract.importing import source_text


def write_source(
    out: Path, tree: Mapping[str, Any], comments: Sequence[str], *, force: bool
) -> None:
    """Write the TOML of a source; UsageError if the file exists, unless `force`."""
    if out.suffix != ENDING:
        raise UsageError(f"--out {out}: the file of a source has a name that ends in {ENDING}")
    try:
        with out.open("w" if force else "x", encoding="utf-8") as file:
            file.write(source_text(tree, comments))
    except FileExistsError:
        raise UsageError(
            f"--out {out}: the file exists, and may have been edited; add --force to replace it"
        ) from None
    except OSError as error:
        raise UsageError(f"--out {out}: it cannot be written: {error.strerror}") from None
