"""Limits on the size of files and the resources for reading them, for every format."""

import msgspec

from headgate.core.errors import BadSource

_MIB = 1024 * 1024
MAX_RECORD_BYTES = 4 * _MIB
"""Longest row in bytes; a longer one is bad. It bounds the memory for a file without line ends
or with a quote that is never closed."""


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Limits for reading files. Beyond a limit, a row is bad or the file is refused."""

    max_rows: int = 100_000_000
    """Rows of a source; a source with more is refused."""
    max_columns: int = 2_000
    """Columns of a source; a source with more is refused."""
    max_record_bytes: int = MAX_RECORD_BYTES
    """Bytes of a row; a longer row is bad."""
    max_cell_bytes: int = _MIB
    """Bytes of a value; a row with a longer value is bad."""
    max_blank_bytes: int = 4 * _MIB
    """Bytes of consecutive blank lines; a file with more is refused."""
    max_members: int = 100_000
    """Files in an archive or a folder; more are refused."""
    max_decompressed_bytes: int = 2_048 * _MIB
    """Bytes of all files of an archive together, unpacked; an archive with more is refused."""
    max_ratio: int = 250
    """Compression ratio of a file in an archive; small files are exempt."""
    max_memory_bytes: int = 2_048 * _MIB
    """Bytes of memory for the process that reads a workbook, a Parquet file or a preview."""
    max_silence_s: float = 300.0
    """Seconds to wait for further rows from that process."""
    max_look_s: float = 60.0
    """Seconds that a preview, or the check of an upload, may read the first rows."""


class TooManyBlanks(BadSource):
    def __init__(self, line: int, most: int) -> None:
        super().__init__(
            f"more than {most:,} bytes of blank lines follow line {line:,}: remove them"
        )
