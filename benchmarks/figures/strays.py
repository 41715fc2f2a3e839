"""What stray refusals cost: `headgate run` on 2,000 rows, a real server that has no limit.

One or three requests at fixed places are answered 429 with `Retry-After: 31`. The value is the
time beyond these waits ÷ the time of the same rows without a refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

from benchmarks import command
from benchmarks.figures.http import write_urls
from benchmarks.harness import Bench, Contender, Figure
from benchmarks.measurement import Round, Values
from tests.kit.answers import Answer, Request, Script, refusal
from tests.kit.provider import Provider

RETRY_AFTER_S, SMOKE_S = 31, 1
AT_ONCE = 16
PLACES = {0: (), 1: (0.25,), 3: (0.25, 0.4, 0.8)}
"""Which part of the rows has gone when one is refused."""


def refusing(places: Sequence[int], retry_after_s: int) -> Script:
    """Refuse the requests with these numbers, as they arrive."""
    numbers = count()

    def answer(_: Request) -> Answer:
        if next(numbers) in places:
            return refusal(str(retry_after_s))
        return Answer(200, body=b"hello")

    return answer


def with_strays(strays: int) -> Callable[[Bench], Values]:
    def run(bench: Bench) -> Values:
        rows = bench.sizes.waiting
        wait_s = RETRY_AFTER_S if rows >= 1_000 else SMOKE_S
        places = [int(part * rows) for part in PLACES[strays]]
        with bench.scratch() as folder, Provider(refusing(places, wait_s)) as provider:
            seconds = run_against(provider, folder, rows)
        return {"seconds": seconds, "beyond_s": seconds - strays * wait_s}

    return run


def run_against(provider: Provider, folder: Path, rows: int) -> float:
    """How long all rows take, the start of the program included."""
    hosts = f'[providers.limited]\nhosts = ["127.0.0.1:{provider.port}"]\n'
    (folder / "headgate.toml").write_text(hosts)
    source = write_urls(folder / "urls.csv", provider.url("/row"), rows)
    job = command.Run("ask", source, str(folder / "headgate.db"), AT_ONCE)
    return command.run(job, folder).seconds


NONE = Contender("2,000 rows, no refusal", with_strays(0))
ONE = Contender("2,000 rows, one 429 with Retry-After 31", with_strays(1))
THREE = Contender("2,000 rows, three 429s with Retry-After 31", with_strays(3))


def figure(name: str, title: str, disturbed: Contender) -> Figure:
    def value(done: Round) -> float:
        return done.values[disturbed.name]["beyond_s"] / done.values[NONE.name]["seconds"]

    return Figure(name, title, (NONE, disturbed), value, must=1.3, aim=1.1, at_most=True)


FIGURES = (
    figure("strays-one", "one stray 429: time beyond its wait ÷ undisturbed", ONE),
    figure("strays-three", "three stray 429s: time beyond their waits ÷ undisturbed", THREE),
)
