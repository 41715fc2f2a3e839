"""The FastAPI application: all routers, all middleware and the OpenAPI document."""

import msgspec
from fastapi import FastAPI, Request, Response

from headgate import __version__
from headgate.app.api import (
    dead_letters,
    events,
    exports,
    handlers,
    items,
    jobs,
    metrics,
    mirror_streams,
    mirrors,
    new_job,
    new_pass,
    pending,
    preview,
    problems,
    providers,
    queues,
    reprocess,
    reviews,
    sessions,
    system,
    ui,
    users,
)
from headgate.app.api.bodies import describe_text
from headgate.app.api.job_request import JobFromSource
from headgate.app.api.middleware import Compression, SecurityHeaders
from headgate.app.api.models import Json
from headgate.app.api.state import AppState
from headgate.app.api.struct_route import describe_structs

ROUTERS = (
    new_job.router,
    jobs.router,
    items.router,
    reprocess.router,
    reprocess.across,
    providers.of_job,
    exports.router,
    pending.router,
    reviews.waiting,
    reviews.router,
    preview.router,
    new_job.ingestion,
    handlers.router,
    queues.router,
    mirrors.router,
    new_pass.router,
    mirror_streams.router,
    mirrors.of_pass,
    providers.router,
    system.workers,
    dead_letters.router,
    users.users,
    users.tokens,
    sessions.router,
    events.router,
    system.about_router,
    system.router,
    system.health,
    metrics.router,
    ui.router,
)


def build_app(app_state: AppState) -> FastAPI:
    app = _routed()
    app.state.app_state = app_state
    app.add_middleware(Compression)
    app.add_middleware(SecurityHeaders, policy=app_state.settings.server)
    return app


def document() -> Json:
    """Return the OpenAPI document. Needs neither a server nor a store."""
    return _routed().openapi()


class Application(FastAPI):
    """Builds the OpenAPI document on the first request, because that takes longer than a start."""

    _described = b""

    def openapi(self) -> Json:
        """Add the schemas that no endpoint names in its signature."""
        if self.openapi_schema is None:
            document = super().openapi()
            schemas = document["components"]["schemas"]
            made = JobFromSource.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas |= made.pop("$defs", {})
            schemas["JobFromSource"] = made
            for name in ("HTTPValidationError", "ValidationError"):  # ours are problems
                schemas.pop(name, None)
            describe_structs(document, self.state.routes)
            describe_text(document)
            self.openapi_schema = document
        return self.openapi_schema

    def setup(self) -> None:
        """Add the endpoint of the document. FastAPI calls this once."""
        super().setup()
        self.add_route("/api/openapi.json", self.describe, include_in_schema=False)

    async def describe(self, _: Request) -> Response:
        """Send the document. The endpoint is public, so the encoded text is cached."""
        if not self._described:
            self._described = msgspec.json.encode(self.openapi())
        return Response(self._described, media_type="application/json")


def _routed() -> FastAPI:
    app = Application(
        title="Headgate",
        version=__version__,
        description="Push a very large batch through rate-limited services.",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
    )
    app.state.routes = [route for router in ROUTERS for route in router.routes]
    for router in ROUTERS:
        app.include_router(router)
    problems.install(app)
    return app
