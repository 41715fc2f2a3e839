"""Limits on the growth of a compressed body while it is decompressed."""

import msgspec


class DecompressionLimit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    ratio: float = 200.0
    """Most decompressed bytes for each byte received; text seldom reaches 20."""
    harmless_bytes: int = 16 * 1024 * 1024
    """Decompressed bytes up to which any ratio is accepted."""
    max_bytes: int = 8 * 1024 * 1024 * 1024
    """Most decompressed bytes, at any ratio."""

    def exceeded(self, encoded: int, decoded: int) -> bool:
        """Whether to stop after `encoded` bytes received and `decoded` bytes decompressed."""
        if decoded > self.max_bytes:
            return True
        return decoded > self.harmless_bytes and decoded > encoded * self.ratio
