"""How long something that ended rests before it is started again."""

FIRST_REST_S = 0.5
"""Seconds. The rest after the first failure; it doubles with each further one."""
LONGEST_REST_S = 30.0
"""Seconds. The longest rest of something that fails before it gets anything done."""
LONGEST_REST_AFTER_WORK_S = 2.0
"""Seconds. The longest rest of something that did work before it ended."""
SOUND_S = 60.0
"""Seconds. What ran for longer is taken for sound: its earlier failures no longer count."""


def rest_s(failures: int, *, worked: bool) -> float:
    """Seconds to wait after this number of failures in a row, the last one included."""
    longest_s = LONGEST_REST_AFTER_WORK_S if worked else LONGEST_REST_S
    return min(FIRST_REST_S * 2.0 ** min(failures - 1, 16), longest_s)
