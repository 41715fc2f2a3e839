"""What a setting may be at all: types that `msgspec.convert` checks wherever a policy is read."""

from typing import Annotated

from msgspec import Meta

Count = Annotated[int, Meta(ge=1, le=1_000_000_000)]
"""At least one of something."""

Seconds = Annotated[float, Meta(gt=0, le=1e9)]
"""A span of time; the upper end keeps it finite in microseconds."""

Patience = Annotated[float, Meta(ge=0, le=1e9)]
"""A span of time that may be nothing at all."""

Pace = Annotated[float, Meta(ge=0, le=1e12)]
"""Bytes in a second; it may be nothing at all."""

Share = Annotated[float, Meta(gt=0, le=1)]
"""A part of a whole."""

Factor = Annotated[float, Meta(ge=1, le=1e6)]
"""What a step is multiplied by; it never shrinks."""

Milliseconds = Annotated[float, Meta(gt=0, le=1e12)]
"""A short span of time."""

Days = Annotated[float, Meta(gt=0, le=36_500)]
"""A long span of time."""
