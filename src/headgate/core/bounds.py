"""Bounded types of settings, which `msgspec.convert` checks wherever a policy is read."""

from typing import Annotated

from msgspec import Meta

Count = Annotated[int, Meta(ge=1, le=1_000_000_000)]

Seconds = Annotated[float, Meta(gt=0, le=1e9)]
"""Seconds above 0; the upper end keeps them finite in microseconds."""

Patience = Annotated[float, Meta(ge=0, le=1e9)]
"""Seconds; 0 is allowed."""

Pace = Annotated[float, Meta(ge=0, le=1e12)]
"""Bytes a second; 0 is allowed."""

Share = Annotated[float, Meta(gt=0, le=1)]
"""A share above 0, up to 1."""

Factor = Annotated[float, Meta(ge=1, le=1e6)]
"""A multiplier of at least 1."""

Milliseconds = Annotated[float, Meta(gt=0, le=1e12)]

Days = Annotated[float, Meta(gt=0, le=36_500)]
