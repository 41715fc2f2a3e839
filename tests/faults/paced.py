"""Handlers whose rows wait at a gate before they do what the column `do` says."""

import os
import signal
from typing import Any

from headgate import handler
from headgate.core.item import Item
from headgate.ports.handler import Context

RATE = "20/s"


def url_of(item: Item, ctx: Context) -> str:
    """A URL of its own for each row."""
    return f"{ctx.job.config['url']}/{item.key}"


def answer(item: Item) -> dict[str, Any]:
    """End the process, or answer."""
    if item.input.get("do") == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    return {"key": item.key}


@handler("paced.items", rate=RATE)
async def awaited(item: Item, ctx: Context) -> Any:
    """One request at the rate of the handler."""
    await ctx.http.get(url_of(item, ctx))
    return answer(item)
