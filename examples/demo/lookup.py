"""The handler of the demo: ask a service for the price of a product.

It knows nothing of queues, retries or files. It says what became of one row.
"""

import json
from contextlib import closing
from http.client import HTTPConnection
from urllib.parse import quote

from headgate import NotFound, RetryLater, handler


@handler("demo.price", timeout=30)
def price(item, ctx):
    """A plain function runs in a thread, so that it may wait for the network."""
    service = HTTPConnection(ctx.job.config["service"], timeout=10)
    with closing(service):
        service.request("GET", f"/prices/{quote(item.input['sku'])}")
        reply = service.getresponse()
        body = json.load(reply)
    if reply.status == 200:
        return body  # DONE: these values become columns of the results
    if reply.status == 404:
        return NotFound(body["error"])  # an answer, not a failure
    if reply.status == 429:
        return RetryLater(after=float(reply.headers["Retry-After"]), reason=body["error"])
    # Anything else is a fault: tried again a little later, three times in all.
    raise RuntimeError(f"the service answered {reply.status}: {body['error']}")
