"""The description of the API costs nothing when it is asked for again."""

import json

from fastapi import Request

from headgate.app.api.application import Application, document


async def test_the_openapi_document_is_serialized_once():
    app = Application(title="a", version="1", openapi_url=None)
    app.openapi_schema = document()
    request = Request({"type": "http"})
    first, second = await app.describe(request), await app.describe(request)
    assert json.loads(bytes(first.body)) == document()
    assert second.body is first.body
