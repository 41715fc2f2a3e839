"""The request of a page: the words of a stream, filled with values, and what its paging adds."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from headgate.core.errors import UsageError
from headgate.core.url import BadUrl, parse_origin, split_origin
from headgate.handlers.extract.description import ClientWords, EnvValue, Incremental, Resource
from headgate.handlers.extract.pages import PageItem
from headgate.handlers.extract.paging.shape import PageRequest
from headgate.handlers.words.request_url import RequestUrl, request_url
from headgate.handlers.words.template import Template, parse_template
from headgate.ports.http import Options

START = "incremental.start_value"
PARENT = "resources."
Fills = Mapping[str, Any]


class SourceClient(NamedTuple):
    """The client of a source, with its values filled in."""

    base_url: str
    hosts: frozenset[str]
    scheme: str
    headers: Mapping[str, str]
    fixed: Fills
    """Values of `--set`, and of the environment as `env.NAME`."""


class PreparedRequest(NamedTuple):
    method: str
    url: str
    options: Options


class StreamRequest:
    def __init__(self, resource: Resource, client: SourceClient) -> None:
        endpoint, name = resource.endpoint, resource.name
        self._client = client
        self._method = endpoint.method
        self._url = url_template(client, endpoint.path, f"{name}.endpoint.path")
        order = resource.order.params if resource.order else {}
        self._params = _compiled({**order, **endpoint.params}, f"{name}.endpoint.params")
        self._headers = _compiled(endpoint.headers, f"{name}.endpoint.headers")
        self._json = _compiled(endpoint.json, f"{name}.endpoint.json")
        self._start = _start(endpoint.incremental, name)
        templates = [self._params, self._headers, self._json, self._start]
        for template in _templates(templates):
            check_filled(template, client.fixed)

    @property
    def fixed(self) -> Fills:
        return self._client.fixed

    @property
    def params(self) -> Fills:
        """The parameters that are the same for every page."""
        known: Fills = filled(self._params, self._client.fixed, only_known=True)
        return known

    def prepare(self, page: PageItem, ask: PageRequest) -> PreparedRequest:
        fills = {**self._client.fixed, **page.fills}
        if page.since is not None:
            fills[START] = page.since
        options = Options(
            headers={**self._client.headers, **filled(self._headers, fills)}, fresh=True
        )
        json = filled(self._json, fills)
        for path, value in ask.body.items():
            json = _with_value(json, path.split("."), value)
        if json is not None:
            options["json"] = json
        if ask.url:
            return PreparedRequest(self._method, ask.url, options)
        options["params"] = {
            **filled(self._params, fills),
            **self._since(page, fills),
            **ask.params,
        }
        return PreparedRequest(self._method, self._url.url(fills), options)

    def _since(self, page: PageItem, fills: Fills) -> dict[str, Any]:
        return filled(self._start, fills) if page.since is not None else {}


def source_client(client: ClientWords, fixed: Fills) -> SourceClient:
    """Fill in the client's words; UsageError if a value is missing or the URL is not valid."""
    base = parse_template(client.base_url, "client.base_url")
    check_filled(base, fixed)
    text = base.text(fixed).rstrip("/")
    try:
        origin = parse_origin(split_origin(text)[0])
        others = [parse_origin(f"{origin.scheme}://{host}").key for host in client.hosts]
    except BadUrl as error:
        raise UsageError(f"client.base_url: {error}") from None
    headers = _compiled(client.headers, "client.headers")
    for template in _templates(headers):
        check_filled(template, fixed)
    texts = {name.lower(): str(value) for name, value in filled(headers, fixed).items()}
    return SourceClient(
        text,
        frozenset({origin.key, *others}),
        origin.scheme,
        {"accept": "application/json", **texts},
        fixed,
    )


def url_template(client: SourceClient, path: str, where: str) -> RequestUrl:
    """The URL of a path below `base_url`, or of a whole URL on a host of the source."""
    template = parse_template(path, where)
    check_filled(template, client.fixed)
    parts: Sequence[Any] = template.parts
    if not path.startswith(("http://", "https://")):
        joint = "" if path.startswith(("/", "?")) or not path else "/"
        parts = (client.base_url + joint, *parts)
        if len(parts) > 1 and isinstance(parts[1], str):
            parts = (parts[0] + parts[1], *parts[2:])
    url = request_url(Template(tuple(parts), where), host_from_data=False)
    key = parse_origin(url.fixed).key
    if key not in client.hosts:
        raise UsageError(f"{where}: {key} is not a host of the source; add it to client.hosts")
    return url


def check_filled(template: Template, fixed: Fills) -> None:
    """UsageError for a placeholder that nothing can fill."""
    for each in template.placeholders:
        name = each.column
        if name in fixed or name == START or name.startswith(PARENT) or each.optional:
            continue
        if name.startswith("env."):
            raise UsageError(
                f"{template.where}: the environment variable {name[4:]} is not set, or is not one"
                " line of plain text"
            )
        raise UsageError(f"{template.where}: {{{name}}} has no value; give --set {name}=…")


def filled(tree: Any, fills: Fills, *, only_known: bool = False) -> Any:
    """A tree with its templates filled in; parameters whose value is missing are left out."""
    if isinstance(tree, Template):
        if any(each.column not in fills for each in tree.placeholders):
            return None if only_known or _is_start(tree) else tree.value(fills)
        return tree.value(fills)
    if isinstance(tree, Mapping):
        members = {name: filled(each, fills, only_known=only_known) for name, each in tree.items()}
        return {
            name: value
            for name, value in members.items()
            if value is not None or not isinstance(tree[name], Template)
        }
    if isinstance(tree, list):
        return [filled(each, fills, only_known=only_known) for each in tree]
    return tree


def _is_start(template: Template) -> bool:
    return any(each.column == START for each in template.placeholders)


def _compiled(tree: Any, where: str) -> Any:
    if isinstance(tree, EnvValue):
        return parse_template(f"{{env.{tree.env}}}", where)
    if isinstance(tree, str):
        return parse_template(tree, where)
    if isinstance(tree, Mapping):
        return {name: _compiled(value, f"{where}.{name}") for name, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [_compiled(value, where) for value in tree]
    return tree


def _templates(tree: Any) -> list[Template]:
    if isinstance(tree, Template):
        return [tree]
    if isinstance(tree, Mapping):
        tree = list(tree.values())
    if isinstance(tree, list):
        return [found for value in tree for found in _templates(value)]
    return []


def _start(incremental: Incremental | None, name: str) -> dict[str, Template]:
    """The parameter that limits a listing to what has changed."""
    if incremental is None:
        return {}
    where = f"{name}.endpoint.incremental"
    if incremental.start_expression:
        param, equals, text = incremental.start_expression.partition("=")
        if not equals:
            raise UsageError(f"{where}.start_expression: write it as name=value")
        return {param: parse_template(text, where)}
    if incremental.start_param:
        return {incremental.start_param: parse_template(f"{{{START}}}", where)}
    return {}


def _with_value(tree: Any, path: Sequence[str], value: Any) -> Any:
    if not path:
        return value
    members = dict(tree) if isinstance(tree, Mapping) else {}
    members[path[0]] = _with_value(members.get(path[0]), path[1:], value)
    return members
