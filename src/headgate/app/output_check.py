"""Check where results will be written, before any row is run."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from headgate.core.errors import UsageError
from headgate.transfer.files import RECORD_SUFFIX, STDOUT


def require_output(out: Path, inputs: Sequence[Path], option: str = "--out") -> None:
    """Raise UsageError if the file could not be written, or would replace an input."""
    if out == STDOUT:
        return
    record = out.with_name(out.name + RECORD_SUFFIX) if out.name else out
    for path in inputs:
        if _same(out, path) or _same(record, path):
            raise UsageError(
                f"{option} {out} would replace {path}, which the command reads: choose another file"
            )
    if out.is_dir():
        raise UsageError(
            f"{option} {out} is a folder: name a file in it, such as {out / 'out.csv'}"
        )
    folder = out.parent
    if not folder.is_dir():
        if folder.exists():
            raise UsageError(f"{option} {out}: {folder} is not a folder; choose another")
        raise UsageError(
            f"{option} {out}: the folder {folder} does not exist; create it, or choose another"
        )
    if out.exists() and not out.is_file():
        raise UsageError(f"{option} {out} is not a regular file: choose another file name")
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=f".{out.name[:100]}.", suffix=".part"):
            pass
    except OSError as error:
        raise UsageError(
            f"{option} {out}: the folder {folder} is not writable: {error.strerror}"
        ) from error


def _same(one: Path, other: Path) -> bool:
    """True if both paths are the same file, also through symbolic and hard links."""
    try:
        if one.samefile(other):
            return True
    except OSError:
        pass  # one does not exist yet: compare the paths
    return one.resolve() == other.resolve()


def export_hint(job_id: int, out: str, error: BaseException) -> str:
    reason = getattr(error, "strerror", None) or str(error)
    return (
        f"{out} could not be written: {reason}. The results are safe in the store:"
        f" `headgate export {job_id} FILE` writes them"
    )
