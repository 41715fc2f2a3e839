"""Rounds: each runs every contender once, so that a slow minute of the machine hits all of them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measurement import FailedError, Round, Spread, UnavailableError, Values
from benchmarks.postgres import Postgres

Say = Callable[[str], None]
PREFIX = "headgate-bench-"


@dataclass(frozen=True)
class Sizes:
    """How much work each kind of run gets."""

    drain: int = 50_000
    waiting: int = 2_000
    small: int = 10_000
    large: int = 1_000_000
    huge: int = 5_000_000
    exported: int = 500_000
    exported_few: int = 5_000
    sheet: int = 200_000
    files: int = 20_000
    files_again: int = 5_000
    large_files: int = 20
    large_file_bytes: int = 500_000_000
    endless: int = 64
    endless_s: int = 30
    scattered: int = 5_000
    retry_after_s: int = 20
    troubled: int = 5_000
    dead_s: float = 60.0
    backoff_s: float = 5.0
    idle_s: int = 60
    mirrored: int = 200_000

    @classmethod
    def smoke(cls) -> Sizes:
        return cls(
            drain=200,
            waiting=50,
            small=100,
            large=400,
            huge=2_000,
            exported=400,
            exported_few=100,
            sheet=300,
            files=100,
            files_again=50,
            large_files=2,
            large_file_bytes=5_000_000,
            endless=4,
            endless_s=1,
            scattered=500,
            retry_after_s=2,
            troubled=60,
            dead_s=1.0,
            backoff_s=0.01,
            idle_s=1,
            mirrored=3_000,
        )


@dataclass(frozen=True)
class Bench:
    """What a contender gets: sizes, a folder for inputs that last, a server, a scratch folder."""

    sizes: Sizes
    inputs: Path
    postgres: Postgres

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix=PREFIX, dir=self.inputs) as folder:
            yield Path(folder)

    def lasting(self) -> Path:
        """A folder for very many files, which is removed after all benchmarks.

        ext4 leaves numbers of deleted files alone for some minutes, and looks through all of them
        for each new file: a benchmark after a large deletion would pay 0.3 ms a file for it.
        """
        return Path(tempfile.mkdtemp(prefix=PREFIX, dir=self.inputs))


@dataclass(frozen=True)
class Contender:
    name: str
    run: Callable[[Bench], Values]


@dataclass(frozen=True)
class Figure:
    """One promise: a value computed from what the contenders measured in the same round."""

    name: str
    title: str
    contenders: Sequence[Contender]
    value: Callable[[Round], float]
    must: float
    aim: float
    at_most: bool = False
    unit: str = ""

    def reaches(self, value: float, target: float) -> bool:
        return value <= target if self.at_most else value >= target


@dataclass(frozen=True)
class Outcome:
    """A figure after all rounds; without a spread, `reason` says why it was not measured."""

    figure: Figure
    samples: tuple[float, ...]
    reason: str = ""

    @property
    def spread(self) -> Spread | None:
        return Spread.of(self.samples) if self.samples else None

    @property
    def verdict(self) -> str:
        if self.spread is None:
            return "not measured"
        if self.figure.reaches(self.spread.median, self.figure.aim):
            return "aim reached"
        return "reached" if self.figure.reaches(self.spread.median, self.figure.must) else "missed"


def contenders_of(figures: Iterable[Figure]) -> list[Contender]:
    """Each contender once, although several figures may look at it."""
    unique = {c.name: c for figure in figures for c in figure.contenders}
    return list(unique.values())


def run_rounds(bench: Bench, figures: Sequence[Figure], rounds: int, say: Say) -> list[Round]:
    """Run all rounds; each begins with another contender, so that no one is always first."""
    field = contenders_of(figures)
    done = []
    for number in range(rounds):
        turn = number % len(field)
        say(f"round {number + 1} of {rounds}")
        done.append(run_round(bench, field[turn:] + field[:turn], say))
    return done


def run_round(bench: Bench, field: Iterable[Contender], say: Say) -> Round:
    result = Round()
    for contender in field:
        try:
            result.values[contender.name] = contender.run(bench)
        except UnavailableError as error:
            result.missing[contender.name] = str(error)
        except FailedError as error:
            result.failed[contender.name] = str(error)
        said = result.reason(contender.name) or summary(result.values[contender.name])
        say(f"  {contender.name}: {said}")
    return result


def summary(values: Values) -> str:
    return ", ".join(f"{name} {value:,.3f}" for name, value in values.items())


def judge(figures: Iterable[Figure], rounds: Sequence[Round]) -> list[Outcome]:
    return [judge_one(figure, rounds) for figure in figures]


def judge_one(figure: Figure, rounds: Sequence[Round]) -> Outcome:
    """A round counts for a figure only if all of its contenders ran in it: ratios are paired."""
    names = [contender.name for contender in figure.contenders]
    paired = [r for r in rounds if all(name in r.values for name in names)]
    reasons = {name: r.reason(name) for r in rounds for name in names if r.reason(name)}
    reason = "; ".join(f"{name}: {why}" for name, why in reasons.items())
    return Outcome(figure, tuple(figure.value(r) for r in paired), reason)
