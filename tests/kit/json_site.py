"""A site in this process, on the loopback address, that a function answers for."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from aiohttp import web

Answer = Callable[[web.Request], web.Response]


@asynccontextmanager
async def serving(answer: Answer) -> AsyncIterator[str]:
    """A server on the loopback address that answers every request so."""

    async def handle(request: web.Request) -> web.Response:
        return answer(request)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        yield f"http://{host}:{port}"
    finally:
        await runner.cleanup()
