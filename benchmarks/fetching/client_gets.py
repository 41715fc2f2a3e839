"""Our client without the engine: a client for each request, gates that stand open, all recorded."""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Iterator, Mapping
from random import Random

from headgate.app.event_loop import run_async
from headgate.core.call import Call
from headgate.core.gates.breaker import BreakerPolicy
from headgate.engine.clock import SystemClock
from headgate.net.policy import NetPolicy
from headgate.net.stack import HttpParts, HttpStack
from headgate.net.wire import AiohttpWire
from headgate.ports.gate import Cost, Feedback, Route, Turn

TURN = Turn("bench", 1)
WELCOME = Feedback(refused=False)


class OpenPermit:
    """Asks for nothing and remembers nothing."""

    __slots__ = ()
    credential = None
    waited_s = 0.0
    cause = ""

    def recalled(self) -> bool:
        return False

    def answered(self, status: int, headers: Mapping[str, str], latency_s: float) -> Feedback:  # noqa: ARG002 -- as the port has it
        return WELCOME

    def failed(self) -> None: ...

    def withdraw(self) -> None: ...

    def bench(self, reason: str) -> bool:  # noqa: ARG002 -- as the port has it
        return False

    def spend(self, cost: Cost) -> None: ...

    def release(self) -> None: ...


class OpenGates:
    """Lets everything out at once."""

    async def enter(
        self,
        route: Route,  # noqa: ARG002 -- as the port has it
        turn: Turn,  # noqa: ARG002 -- as the port has it
        cost: Cost,  # noqa: ARG002 -- as the port has it
        patience_s: float,  # noqa: ARG002 -- as the port has it
    ) -> OpenPermit:
        return OpenPermit()


async def measure(url: str, requests: int, callers: int) -> dict[str, float]:
    left = iter(range(requests))
    calls: list[Call] = []
    parts = HttpParts(AiohttpWire(), OpenGates(), SystemClock(), Random())
    stack = HttpStack(parts, {}, NetPolicy(), BreakerPolicy())

    async def caller(numbers: Iterator[int]) -> None:
        for number in numbers:
            reply = await stack.client(TURN, "", calls.append).get(f"{url}?{number}")
            assert reply.raise_for_status().content

    await stack.client(TURN, "", calls.append).get(url)
    started = time.perf_counter()
    await asyncio.gather(*(caller(left) for _ in range(callers)))
    seconds = time.perf_counter() - started
    await stack.close()
    assert len(calls) == requests + 1
    return {"requests_per_s": requests / seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--requests", type=int, required=True)
    parser.add_argument("--callers", type=int, required=True)
    print(json.dumps(run_async(measure(**vars(parser.parse_args())))))


if __name__ == "__main__":
    main()
