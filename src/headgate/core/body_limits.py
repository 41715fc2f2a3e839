"""Limits on a body while it arrives: its growth in decompression and the speed of its sender."""

from collections import deque

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


class MinimumPace(msgspec.Struct, frozen=True):
    """A sender that sends less than this is too slow."""

    bytes_per_s: float
    over_s: float
    """Seconds of waiting for the sender over which the average is taken. Nothing is judged before
    they have passed."""

    def longest_wait_s(self, size: int) -> float:
        """Seconds that a sender at this pace may take for a piece of `size` bytes."""
        needed_s = size / self.bytes_per_s if self.bytes_per_s else float("inf")
        return max(self.over_s, needed_s)


class PaceMeter:
    """Measures a sender. Only the time in which we waited for it counts, not our own work."""

    STEPS = 30
    """Parts of the span; pieces within one part are counted together, so that memory stays
    small."""

    def __init__(self, minimum: MinimumPace) -> None:
        self._minimum = minimum
        self._step_s = minimum.over_s / self.STEPS
        self._waited_s = 0.0
        self._pieces: deque[tuple[float, int]] = deque()
        self._size = 0

    def count(self, waited_s: float, size: int) -> None:
        """Count a piece of `size` bytes, for which we waited `waited_s` seconds."""
        self._waited_s += waited_s
        self._size += size
        if self._pieces and self._waited_s - self._pieces[-1][0] < self._step_s:
            ended_s, before = self._pieces.pop()
            self._pieces.append((ended_s, before + size))
        else:
            self._pieces.append((self._waited_s, size))
        while self._pieces[0][0] <= self._waited_s - self._minimum.over_s:
            self._size -= self._pieces.popleft()[1]

    @property
    def too_slow(self) -> bool:
        over_s = self._minimum.over_s
        return self._waited_s >= over_s and self._size < self._minimum.bytes_per_s * over_s


LEAST_BYTES_PER_S = 16_384


def body_deadline_s(received: int, grace_s: float) -> float:
    """Seconds from the beginning after which more than `received` bytes must have arrived."""
    return grace_s + received / LEAST_BYTES_PER_S
