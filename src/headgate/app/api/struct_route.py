"""Teaches FastAPI to return the values of `headgate.schema`: encoded once, described in OpenAPI."""

import functools
import inspect
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, get_origin

import msgspec
from fastapi.datastructures import DefaultPlaceholder
from fastapi.routing import APIRoute
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute

from headgate.app.api.models import Json

JSON = "application/json"
REFERENCE = "#/components/schemas/{name}"
_encode = msgspec.json.Encoder().encode


class EncodedJson(JSONResponse):
    """A response whose content is JSON text already."""

    def render(self, content: str) -> bytes:
        return content.encode()


class StructRoute(APIRoute):
    """Encodes what an endpoint returns if its annotation is a struct."""

    returns: Any = None
    """The struct that the endpoint returns, if it is one."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        returns = inspect.get_annotations(endpoint).get("return")
        if isinstance(options.get("response_model"), DefaultPlaceholder) and is_struct(returns):
            self.returns, endpoint = returns, _encoded(endpoint)
            options |= {"response_model": None, "response_class": EncodedJson}
        super().__init__(path, endpoint, **options)


def is_struct(kind: Any) -> bool:
    plain = get_origin(kind) or kind
    return isinstance(plain, type) and issubclass(plain, msgspec.Struct)


def _encoded(endpoint: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[str]]:
    @functools.wraps(endpoint)
    async def encoded(*given: Any, **named: Any) -> str:
        # FastAPI passes text on as it is; a `Response` would lose the headers that an endpoint set.
        return _encode(await endpoint(*given, **named)).decode()

    return encoded


def reference_to(kind: type[msgspec.Struct]) -> Json:
    return {JSON: {"schema": {"$ref": REFERENCE.format(name=kind.__name__)}}}


def describe_structs(document: Json, routes: Iterable[BaseRoute]) -> None:
    found = [route for route in routes if isinstance(route, StructRoute) and route.returns]
    kinds = [route.returns for route in found]
    schemas, components = msgspec.json.schema_components(kinds, ref_template=REFERENCE)
    for route, schema in zip(found, schemas, strict=True):
        if route.include_in_schema:
            path = document["paths"][route.path_format]
            for method in route.methods or ():
                response = path[method.lower()]["responses"][str(route.status_code or 200)]
                response["content"] = {JSON: {"schema": schema}}
    for component in components.values():
        _complete(component)
    document["components"]["schemas"] = components | document["components"]["schemas"]


def _complete(component: Json) -> None:
    if "properties" in component:
        # A default is for the reader of a response: every field is sent.
        component["required"] = [*component["properties"]]
        for each in component["properties"].values():
            each.pop("default", None)
    if "enum" in component:
        component["type"] = "string"
