"""Handlers for a server under test: the column `do` of a row names what becomes of it."""

import asyncio
import os
from pathlib import Path
from typing import Any

from headgate import Done, GiveUp, NotFound, Review, Skipped, handler
from headgate.core.item import Item
from headgate.ports.handler import Context

CANDIDATES = [
    {"id": "Q1", "name": "Universe", "score": 0.7, "result": {"match": "Q1"}},
    {"id": "Q2", "name": "Earth", "score": 0.6, "result": {"match": "Q2"}},
]


def _noted(item: Item, ctx: Context) -> None:
    if "log" in ctx.job.config:
        log = os.open(ctx.job.config["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.write(log, f"{item.key}\n".encode())
        os.close(log)


@handler("shop.price", version="1")
def price(item: Item, ctx: Context) -> Any:
    """Look up a price, or do what the row asks for."""
    _noted(item, ctx)
    match item.input.get("do"):
        case "missing":
            return NotFound()
        case "fail":
            return GiveUp(f"out of stock in shop {item.key}")
        case "review":
            return Review(candidates=CANDIDATES)
        case "skip":
            return Skipped("not for sale")
        case "leak":
            raise ValueError("login failed: password=hunter6secret, see /srv/shop.log")
        case "raise":
            raise ValueError(f"no price for {item.key}")
        case _:
            return Done({"price": 3, "seen": item.input.get("name")})


@handler("shop.gated")
async def gated(item: Item, ctx: Context) -> Any:
    """Wait until the file that the configuration names is there, then do what the row asks for."""
    _noted(item, ctx)
    while not Path(ctx.job.config["gate"]).exists():  # noqa: ASYNC110, ASYNC240  only a file is shared
        await asyncio.sleep(0.01)  # noqa: TID251  as users write it
    match item.input.get("do"):
        case "stop the loop":
            asyncio.get_running_loop().stop()
        case "cancel all tasks":
            for task in asyncio.all_tasks():
                task.cancel()
    return Done({"waited": True})


@handler("shop.plain")
def plain(item: Item, ctx: Context) -> Any:
    """Cost nothing, for many rows."""
    return Done({"n": item.key})


@handler(
    "shop.ask",
    version="1",
    needs=["id"],
    config_schema={
        "type": "object",
        "required": ["service"],
        "properties": {
            "service": {
                "type": "string",
                "title": "Service",
                "description": "Where prices are asked for.",
            },
            "max_age_days": {
                "type": "integer",
                "minimum": 1,
                "maximum": 365,
                "title": "Oldest price",
                "description": "In days.",
            },
        },
    },
)
async def ask(item: Item, ctx: Context) -> Any:
    """Ask a service for a price, as fast as it allows."""
    reply = await ctx.http.get(f"{ctx.job.config['service']}/prices/{item.input['id']}")
    if reply.status_code == 404:
        return NotFound()
    return reply.raise_for_status().json()
