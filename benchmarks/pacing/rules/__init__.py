"""The rules that are compared, by the names that the tables use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.pacing.rules.botocore import Botocore
from benchmarks.pacing.rules.crawlee import Crawlee
from benchmarks.pacing.rules.oracle import Oracle
from benchmarks.pacing.rules.reference import Reference
from benchmarks.pacing.rules.rule import Rule
from benchmarks.pacing.rules.sawtooth import Sawtooth
from benchmarks.pacing.rules.scrapy import AutoThrottle
from benchmarks.pacing.rules.vegas import Vegas


@dataclass(frozen=True)
class Contender:
    """A name, and how to make the rule afresh for each run."""

    name: str
    make: Callable[[], Rule]


ORACLE = Contender("oracle", Oracle)
BACKOFF = Contender("tenacity", Rule)
CRAWLEE = Contender("crawlee", Crawlee)
SCRAPY = Contender("scrapy", AutoThrottle)
BOTOCORE = Contender("botocore", Botocore)
VEGAS = Contender("vegas", Vegas)
SAWTOOTH = Contender("sawtooth", Sawtooth)
REFERENCE = Contender("reference", Reference)

KNOWN = (BACKOFF, CRAWLEE, SCRAPY, BOTOCORE, VEGAS, SAWTOOTH, REFERENCE)
RIVALS = (BOTOCORE, REFERENCE)
FIELD = RIVALS
"""What most experiments compare."""
REMEMBERING: dict[str, Callable[[float], Rule]] = {REFERENCE.name: Reference.remembering}
"""Rules that can begin with a rate that an earlier run has learned."""
ALL = {each.name: each for each in (ORACLE, *KNOWN, *FIELD)}
"""By name."""
