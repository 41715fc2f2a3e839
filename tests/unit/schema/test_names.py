"""Values on the wire have camelCase names. msgspec renames only fields that a class declares."""

import importlib
import pkgutil

import msgspec
import pytest

import headgate.schema
from headgate.schema.values import WireValue

MODULES = [
    f"headgate.schema.{each.name}" for each in pkgutil.iter_modules(headgate.schema.__path__)
]
STRUCTS = sorted(
    {
        kind
        for module in map(importlib.import_module, MODULES)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct)
    },
    key=lambda kind: kind.__name__,
)


@pytest.mark.parametrize("kind", STRUCTS, ids=lambda kind: kind.__name__)
def test_a_value_on_the_wire_has_camel_case_names(kind: type[msgspec.Struct]):
    assert issubclass(kind, WireValue)
    assert [
        each.encode_name for each in msgspec.structs.fields(kind) if "_" in each.encode_name
    ] == []
