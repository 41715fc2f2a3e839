"""How far a packed body may swell before it counts as a trap."""

import msgspec


class DecompressionLimit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Bounds on a body that is unpacked while it arrives."""

    ratio: float = 200.0
    """Unpacked bytes for each that was sent; text seldom reaches 20."""
    harmless_bytes: int = 16 * 1024 * 1024
    """Up to here any ratio will do."""
    max_bytes: int = 8 * 1024 * 1024 * 1024
    """Unpacked, whatever the ratio."""

    def exceeded(self, encoded: int, decoded: int) -> bool:
        """Whether to stop, after so many bytes came in and so many came out of them."""
        if decoded > self.max_bytes:
            return True
        return decoded > self.harmless_bytes and decoded > encoded * self.ratio
