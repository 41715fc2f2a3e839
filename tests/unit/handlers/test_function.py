"""The mark that makes a function a handler."""

import pytest

from headgate import handler
from headgate.core.errors import UsageError
from headgate.handlers.function import is_async, marked


def test_a_marked_function_stays_what_it_was():
    @handler("price.lookup")
    def price(item, ctx):
        return {"price": item}

    assert price(1, None) == {"price": 1}
    spec = marked(price)
    assert spec is not None
    assert (spec.name, spec.call, spec.is_async) == ("price.lookup", price, False)


def test_options_are_kept():
    @handler(
        "h",
        provider="wikidata",
        gate_of=str,
        strategies=["exact", "fuzzy"],
        normalize=dict,
        pack=10,
        timeout=5,
        memory_mb=100,
        version="2",
        needs=["sku"],
        config_schema={"type": "object"},
    )
    async def function(items, ctx):
        return []

    spec = marked(function)
    assert spec is not None
    assert spec.is_async
    assert (spec.provider, spec.gate_of, spec.strategies) == ("wikidata", str, ("exact", "fuzzy"))
    assert (spec.version, spec.needs, spec.config_schema) == ("2", ("sku",), {"type": "object"})
    assert (spec.normalize, spec.pack, spec.timeout_s, spec.memory_mb) == (dict, 10, 5, 100)


def test_objects_with_an_async_call_are_async():
    class Service:
        async def __call__(self, item, ctx):
            return None

    assert is_async(Service())
    assert not is_async(print)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (print, {}, "not a bare `@handler`"),
        ("", {}, "needs a name"),
        (3, {}, "needs a name"),
        ("h", {"pack": 0}, "`pack`"),
        ("h", {"timeout": 0}, "`timeout`"),
        ("h", {"memory_mb": 0}, "`memory_mb`"),
        ("h", {"timeout": "5s"}, "`timeout` is a number, in seconds, such as timeout=5, not '5s'"),
        ("h", {"pack": "10"}, "`pack` is a number"),
        ("h", {"memory_mb": True}, "`memory_mb` is a number"),
        ("h", {"version": 2}, "`version` is text"),
        ("h", {"needs": "sku"}, r"`needs` is a list of columns: \['sku'\]"),
        ("h", {"rate": "often"}, "handler h: rate: 'often' is not a limit"),
    ],
)
def test_mistakes_are_named(name, options, message):
    with pytest.raises(UsageError, match=message):
        handler(name, **options)
