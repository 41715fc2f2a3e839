"""What a file may ask of this machine: bounds that hold for every format."""

import msgspec

from headgate.core.errors import BadSource

_MIB = 1024 * 1024
MAX_RECORD_BYTES = 4 * _MIB
"""A row may be this long; a longer one is bad, so that a file without line ends or with a quote
that is never closed costs no more memory than this."""


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Bounds on what is read. Past one of them a row is bad, or the file is refused."""

    max_rows: int = 100_000_000
    """Rows of one source; a longer one is refused."""
    max_columns: int = 2_000
    """Values side by side; a wider file is refused."""
    max_record_bytes: int = MAX_RECORD_BYTES
    """One row; a longer one is bad."""
    max_cell_bytes: int = _MIB
    """One value; a row with a longer one is bad."""
    max_blank_bytes: int = 4 * _MIB
    """Blank lines in a row; a file with more is refused."""
    max_members: int = 100_000
    """Files in an archive or a folder; more are refused."""
    max_decompressed_bytes: int = 2_048 * _MIB
    """All files of an archive together, once unpacked; more is refused."""
    max_ratio: int = 250
    """How much larger than packed a file of an archive may be, if it is large at all."""
    max_memory_bytes: int = 2_048 * _MIB
    """What the process may take that reads a workbook or a Parquet file."""
    max_silence_s: float = 300.0
    """How long that process may keep us waiting for further rows."""
    max_look_s: float = 60.0
    """How long a preview, or the check of an upload, may take to read the first rows."""


class TooManyBlanks(BadSource):
    """A file has more blank lines in a row than are passed over."""

    def __init__(self, line: int, most: int) -> None:
        super().__init__(
            f"more than {most:,} bytes of blank lines follow line {line:,}: remove them"
        )
