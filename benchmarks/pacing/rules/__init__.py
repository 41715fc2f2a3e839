"""The rules that are compared, by the names that the tables use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.pacing.rules.botocore import Botocore
from benchmarks.pacing.rules.crawlee import Crawlee
from benchmarks.pacing.rules.oracle import Oracle
from benchmarks.pacing.rules.ours import Ours
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
OURS = Contender("ours", Ours)

KNOWN = (BACKOFF, CRAWLEE, SCRAPY, BOTOCORE, VEGAS, SAWTOOTH, REFERENCE)
RIVALS = (BOTOCORE, REFERENCE)
FIELD = (*RIVALS, OURS)
"""What most experiments compare."""
ALL = {each.name: each for each in (ORACLE, *KNOWN, OURS)}
"""By name."""
