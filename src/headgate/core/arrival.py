"""When a body that is on its way has come too slowly."""

LEAST_BYTES_PER_S = 16_384


def latest_s(received: int, grace_s: float) -> float:
    """Seconds from the beginning after which more than `received` bytes must be there."""
    return grace_s + received / LEAST_BYTES_PER_S
