"""Values of a manifest's requests as templates: settings of the connector become `{name}`."""

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from headgate.handlers.extract.importing.imported import NotConvertible
from headgate.handlers.extract.importing.jinja import (
    Reference,
    literal,
    only_expression,
    pieces,
    reference,
    shown,
)

Tree = Mapping[str, Any]
START: Final = "{incremental.start_value}"
_SLICES: Final = frozenset({"stream_partition", "stream_slice", "stream_interval"})
_SECRET: Final = re.compile(r"token|secret|password|api_?key|access_?key|credential", re.IGNORECASE)


class ConnectorSettings:
    """The settings of a connector, as its `spec` declares them."""

    def __init__(self, spec: Tree, name: str) -> None:
        self._schema: Tree = spec.get("connection_specification") or {}
        self._prefix = re.sub(r"\W+", "_", name).strip("_").upper() or "SOURCE"
        self.defaults: dict[str, str] = {}
        """Values of settings that have one before anybody sets them."""
        self.secrets: dict[str, None] = {}
        """The environment variables that the source reads."""

    def placeholder(self, found: Reference) -> str:
        """The template of a setting: `{env.NAME}` for a secret, else `{name}`."""
        steps = [str(step) for step in found.steps]
        if not steps:
            raise NotConvertible("all settings of the connector at once")
        declared = _declared(self._schema, steps)
        if self.is_secret(found):
            return f"{{env.{self.variable(found)}}}"
        name = "_".join(steps)
        default = found.default if found.default not in {None, ""} else declared.get("default")
        if isinstance(default, str | int | float) and str(default):
            self.defaults.setdefault(name, _as_text(default))
            return f"{{{name}}}"
        return f"{{{name}}}" if declared.get("required") else f"{{{name}?}}"

    def is_secret(self, found: Reference) -> bool:
        steps = [str(step) for step in found.steps]
        declared = _declared(self._schema, steps)
        return bool(declared.get("airbyte_secret", not declared and _SECRET.search(steps[-1])))

    def variable(self, found: Reference) -> str:
        """The environment variable for a secret setting."""
        steps = [str(step) for step in found.steps if step != "credentials"]
        name = re.sub(r"\W+", "_", "_".join([self._prefix, *steps])).upper()
        self.secrets.setdefault(name)
        return name


class Filling:
    """How the values of one stream's requests are written."""

    def __init__(
        self, settings: ConnectorSettings, partition: Mapping[str, str] | None = None
    ) -> None:
        self.settings = settings
        self.partition = partition or {}
        """Templates for the fields of `stream_partition`."""
        self.starts: frozenset[str] = frozenset()
        """Names under which the stream's incremental start is known."""
        self.ends: frozenset[str] = frozenset()

    def text(self, value: object) -> str:
        """A value as a template."""
        if not isinstance(value, str):
            return _as_text(value)
        found = pieces(value)
        return "".join(
            _escaped(each) if isinstance(each, str) else self._of(each) for each in found
        )

    def value(self, value: object) -> Any:
        """A value of a JSON body, with its type."""
        if isinstance(value, Mapping):
            return {str(name): self.value(each) for name, each in value.items()}
        if isinstance(value, list):
            return [self.value(each) for each in value]
        if not isinstance(value, str):
            return value
        node = only_expression(value)
        constant = None if node is None else literal(node)
        return constant if constant is not None else self.text(value)

    def is_end(self, value: object) -> bool:
        """Whether a value is the upper bound of a time window, which we never send."""
        node = only_expression(value)
        found = None if node is None else reference(node)
        return found is not None and found.root in _SLICES and found.steps[:1] in self._ends()

    def _ends(self) -> set[tuple[str]]:
        return {(name,) for name in self.ends}

    def _of(self, node: ast.expr) -> str:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self._of(node.left) + self._of(node.right)
        if isinstance(node, ast.IfExp):
            return self._chosen(node)
        constant = literal(node)
        if constant is not None:
            return _escaped(_as_text(constant))
        found = reference(node)
        if found is None:
            raise NotConvertible(f"the expression {shown(node)}")
        return self._referred(found, node)

    def _referred(self, found: Reference, node: ast.expr) -> str:
        if found.root == "config":
            return self.settings.placeholder(found)
        if found.root in _SLICES and len(found.steps) == 1:
            name = str(found.steps[0])
            if name in self.partition and found.root != "stream_interval":
                return self.partition[name]
            if name in self.starts:
                return START
        raise NotConvertible(f"the expression {shown(node)}")

    def _chosen(self, node: ast.IfExp) -> str:
        """`config.x if config.x else 'default'`: the setting with a default."""
        test, body = reference(node.test), reference(node.body)
        default = literal(node.orelse)
        if test is None or body is None or test[:2] != body[:2]:
            raise NotConvertible(f"the expression {shown(node)}")
        return self._referred(body._replace(default=default), node)


def _declared(schema: Any, steps: list[str]) -> Tree:
    """The declaration of a setting, with `required`; empty if there is none."""
    if not isinstance(schema, Mapping):
        return {}
    for each in _variants(schema):
        found = (each.get("properties") or {}).get(steps[0])
        if not isinstance(found, Mapping):
            continue
        if len(steps) == 1:
            return {**found, "required": steps[0] in (each.get("required") or [])}
        if inner := _declared(found, steps[1:]):
            return inner
    return {}


def _variants(schema: Tree) -> Iterator[Tree]:
    yield schema
    for each in schema.get("oneOf") or []:
        if isinstance(each, Mapping):
            yield each


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _as_text(value: object) -> str:
    # Airbyte sends truth values as Python writes them, and its connectors are used with that.
    return "" if value is None else str(value)
