"""The handlers that the figures run: they do nothing, wait, or fetch."""

from __future__ import annotations

import asyncio

from headgate import handler

WAIT_S = 0.02

# The same as in workload.py: a handler file is loaded by its path and imports nothing beside it.
RESULT = {"status": "ok", "score": 0.987654321, "label": "no-op", "note": "x" * 40}


@handler("bench.noop")
async def noop(item, ctx):  # noqa: ARG001 -- a handler takes both
    return RESULT


@handler("bench.wait")
async def wait(item, ctx):  # noqa: ARG001 -- a handler takes both
    await asyncio.sleep(WAIT_S)  # noqa: TID251 -- real waiting is what this handler is for
    return RESULT


@handler("bench.fetch", rate="1000000/s")
async def fetch(item, ctx):
    reply = await ctx.http.get(item.input["url"])
    return {"status": reply.status_code, "bytes": len(reply.content)}


@handler("bench.ask", provider="limited")
async def ask(item, ctx):
    reply = await ctx.http.get(item.input["url"])
    return {"bytes": len(reply.raise_for_status().content)}
