"""Handlers that fetch: the job's config names the server, the column `do` a path on it."""

from typing import Any

from headgate import handler
from headgate.core.item import Item
from headgate.ports.handler import Context


def url_of(item: Item, ctx: Context) -> str:
    """Where this item is found, a URL of its own."""
    return f"{ctx.job.config['url']}{item.input.get('do') or '/'}?{item.key}"


@handler("faults.fetch", provider="api")
async def fetch(item: Item, ctx: Context) -> Any:
    """Fetch, with the gates of a provider."""
    reply = await ctx.http.get(url_of(item, ctx))
    return {"bytes": len(reply.raise_for_status().content)}


@handler("faults.stream")
async def stream(item: Item, ctx: Context) -> Any:
    """Fetch piece by piece, with the gates of whatever host it turns out to be."""
    async with ctx.http.stream("GET", url_of(item, ctx)) as reply:
        return {"bytes": len(await reply.aread())}
