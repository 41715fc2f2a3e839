"""A user's file of handlers that fetch what a row names."""

FETCH = """
from headgate import handler

@handler("fetch")
async def fetch(item, ctx):
    reply = await ctx.http.get(item.input["url"])
    return {"bytes": len(reply.raise_for_status().content)}

@handler("fetch.plain")
def plain(item, ctx):
    return {"bytes": len(ctx.http.get(item.input["url"]).raise_for_status().content)}
"""
