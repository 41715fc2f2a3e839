"""The handler of the demo: it asks a service for the price of a product.

It knows nothing of queues, limits, retries or files. It returns the outcome of one row.
"""

from urllib.parse import quote

from headgate import NotFound, handler


@handler("demo.price", timeout=30)
async def price(item, ctx):
    """`ctx.http` finds the rate that the service allows, and stays below it."""
    service = ctx.job.config["service"]
    reply = await ctx.http.get(f"http://{service}/prices/{quote(item.input['sku'])}")
    if reply.status_code == 404:
        return NotFound(reply.json()["error"])  # an answer, not a failure
    # Any other status is a failure: it is retried immediately, then later, three times in all.
    return reply.raise_for_status().json()  # DONE: these values become columns of the results
