"""The request of a lookup: compiled from its description, then filled in for each row."""

import asyncio
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from headgate.core.errors import UsageError
from headgate.handlers.lookup.description import Method, Request, Secret, Variant
from headgate.handlers.words.request_url import RequestUrl, request_url
from headgate.handlers.words.template import (
    Placeholder,
    Row,
    Template,
    Unasked,
    parse_template,
)
from headgate.ports.handler import Context
from headgate.ports.http import Options

DEEPEST: Final = 20
_TOKEN: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_OURS: Final = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer"}
)
_SECRET: Final = re.compile(
    r"authori[sz]ation|cookie|api[_-]?key|(access|auth)[_-]?token|secret|password", re.IGNORECASE
)
_IN_QUERY: Final = re.compile(r"[?&]([^=&{}]+)=([^&]+)")
_WITHOUT_BODY: Final = frozenset({Method.GET, Method.HEAD})


class LookupRequest(NamedTuple):
    method: Method
    address: RequestUrl
    params: Mapping[str, Any]
    headers: Mapping[str, Any]
    json: Any
    form: Mapping[str, Any]
    file: Template | None
    file_bytes: int

    @property
    def columns(self) -> dict[str, bool]:
        """The columns that the request uses, in order, and whether each is optional."""
        found = [*self.address.placeholders]
        for tree in (self.params, self.headers, self.json, self.form, self.file):
            found += [each for template in templates_in(tree) for each in template.placeholders]
        needed = {each.column for each in found if not each.optional}
        return {each.column: each.column not in needed for each in found}

    async def options(self, row: Row, ctx: Context) -> Options:
        """Return the options of the request for a row; Unasked if the row is unusable."""
        options = Options()
        if params := _texts(self.params, row):
            options["params"] = params
        if headers := self._headers(row):
            options["headers"] = headers
        if self.json is not None:
            options["json"] = _filled(self.json, row)
        if self.form:
            options["data"] = _texts(self.form, row)
        if self.file is not None:
            options["content"] = await self._file(self.file.text(row), ctx)
            options["headers"] = {"content-type": "application/octet-stream", **headers}
        return options

    def _headers(self, row: Row) -> dict[str, str]:
        headers = _texts(self.headers, row)
        for name, text in headers.items():
            if not (text.isascii() and text.isprintable()):
                raise Unasked(
                    f"request.headers.{name}: the row gives a value that is not one line of"
                    "  plain characters",
                )
        return headers

    async def _file(self, ref: str, ctx: Context) -> bytes:
        path = ctx.file(ref)
        body = await asyncio.to_thread(_read, path, self.file_bytes + 1)
        if len(body) > self.file_bytes:
            raise Unasked(
                f"the stored file has more than {self.file_bytes:,} bytes; raise"
                " `request.file_bytes` to send it",
            )
        return body


def lookup_request(request: Request, *, host_from_data: bool, trusted: bool) -> LookupRequest:
    """Compile a request; UsageError if it is not valid."""
    _check_body(request)
    url = parse_template(request.url, "request.url")
    headers = {name.lower(): value for name, value in request.headers.items()}
    if len(headers) < len(request.headers):
        raise UsageError("request.headers: a header is given twice")
    for name, value in headers.items():
        _check_header(name, value)
    for each, given in _plain_values(request):
        _check_open(each, given)
    question = LookupRequest(
        request.method,
        request_url(url, host_from_data=host_from_data),
        _compiled(dict(request.params), "request.params"),
        _compiled(headers, "request.headers"),
        _compiled(request.json, "request.json"),
        _compiled(dict(request.form), "request.form"),
        _file_template(request),
        request.file_bytes,
    )
    if not trusted:
        _check_secrets(question)
    return question


def varied(request: Request, variant: Variant) -> Request:
    changes = {
        name: value
        for name in ("url", "params", "headers", "json", "form")
        if (value := getattr(variant, name)) is not None
    }
    fields = {name: getattr(request, name) for name in request.__struct_fields__}
    return Request(**{**fields, **changes})


def templates_in(tree: Any) -> list[Template]:
    if isinstance(tree, Template):
        return [tree]
    if isinstance(tree, Mapping):
        return [found for value in tree.values() for found in templates_in(value)]
    if isinstance(tree, list):
        return [found for value in tree for found in templates_in(value)]
    return []


def secrets_in(question: LookupRequest) -> list[Secret]:
    values = [*question.params.values(), *question.headers.values()]
    return [value for value in values if isinstance(value, Secret)]


def missing_secret(secrets: Sequence[Secret]) -> str | None:
    """Return the first environment variable that is unset or unusable."""
    for secret in secrets:
        value = os.environ.get(secret.env, "").strip()
        if not (value and value.isascii() and value.isprintable()):
            return secret.env
    return None


def _compiled(tree: Any, where: str, depth: int = 0) -> Any:
    """Replace the texts of a tree by templates."""
    if depth > DEEPEST:
        raise UsageError(f"{where}: it is nested more than {DEEPEST} deep")
    if isinstance(tree, str):
        return parse_template(tree, where)
    if isinstance(tree, Mapping):
        return {
            name: _compiled(value, f"{where}.{name}", depth + 1) for name, value in tree.items()
        }
    if isinstance(tree, list | tuple):
        return [_compiled(value, where, depth + 1) for value in tree]
    return tree


def _filled(tree: Any, row: Row) -> Any:
    """Fill in the values of a row; empty optional values are left out."""
    if isinstance(tree, Template):
        return tree.value(row)
    if isinstance(tree, Mapping):
        members = ((name, part, _filled(part, row)) for name, part in tree.items())
        return {name: value for name, part, value in members if _kept(part, value)}
    if isinstance(tree, list):
        return [value for part in tree if _kept(part, value := _filled(part, row))]
    return tree


def _kept(part: Any, value: Any) -> bool:
    return value is not None or not isinstance(part, Template)


def _texts(tree: Mapping[str, Any], row: Row) -> dict[str, Any]:
    """Fill in the texts of a row and the secrets; empty optional values are left out."""
    texts: dict[str, Any] = {}
    for name, part in tree.items():
        if isinstance(part, Template):
            value = part.wanted(row)
        elif isinstance(part, Secret):
            value = part.prefix + os.environ.get(part.env, "").strip()
        else:
            value = part
        if value is not None:
            texts[name] = value
    return texts


def _file_template(request: Request) -> Template | None:
    if request.body != "file":
        return None
    return Template((Placeholder(request.file_column, optional=False),), "request.file_column")


def _check_body(request: Request) -> None:
    named = [name for name in ("json", "form", "body") if getattr(request, name)]
    if len(named) > 1:
        raise UsageError(f"request: a request has one body; give {' or '.join(named)}, not both")
    if named and request.method in _WITHOUT_BODY:
        raise UsageError(
            f"request.method: a {request.method} carries no body, and there is `{named[0]}`; use"
            " POST",
        )


def _check_header(name: str, value: str | Secret) -> None:
    if not _TOKEN.fullmatch(name):
        raise UsageError(f"request.headers: {name!r} is not a valid header name")
    if name in _OURS:
        raise UsageError(f"request.headers: {name} is set by the client; leave it out")
    if isinstance(value, str) and not (value.isascii() and value.isprintable()):
        raise UsageError(f"request.headers.{name}: a header is one line of plain characters")


def _plain_values(request: Request) -> Iterator[tuple[str, object]]:
    """Names and values that the stored description contains in plain text."""
    yield from _IN_QUERY.findall(request.url)
    body = request.json if isinstance(request.json, Mapping) else {}
    for named in (request.params, request.headers, request.form, body):
        yield from named.items()


def _check_open(name: str, value: object) -> None:
    """Refuse a key or token in plain text."""
    if isinstance(value, str) and _SECRET.search(name) and "{" not in value:
        raise UsageError(
            f"request: {name} has its value in the description, which users can see; write"
            ' { env = "NAME" } in a TOML file, or name a `provider` whose settings have a'
            " credential",
        )


def _check_secrets(question: LookupRequest) -> None:
    """Refuse secrets in a job's config: its author could send any variable anywhere."""
    if secrets := secrets_in(question):
        raise UsageError(
            f"request: {secrets[0].env} cannot be used in a job's config; name a `provider` whose"
            " settings have a credential, or have the operator add the lookup as a TOML file",
        )


def _read(path: Path, most: int) -> bytes:
    with path.open("rb") as file:
        return file.read(most)
