"""A small body may unpack to a little more, not to a flood."""

import pytest

from headgate.core.decompression import DecompressionLimit

LIMIT = DecompressionLimit(ratio=10, harmless_bytes=1_000, max_bytes=50_000)


@pytest.mark.parametrize(
    ("encoded", "decoded", "exceeded"),
    [
        (0, 0, False),
        (1, 1_000, False),
        (1, 1_001, True),
        (200, 2_000, False),
        (200, 2_001, True),
        (49_000, 50_000, False),
        (50_001, 50_001, True),
    ],
)
def test_past_the_harmless_the_ratio_decides(encoded, decoded, exceeded):
    assert LIMIT.exceeded(encoded, decoded) is exceeded
