"""A command may change the rate and the page size of a source, and nothing else."""

import pytest

from headgate.core.errors import UsageError
from headgate.handlers.extract import parse_source, source_digest
from headgate.handlers.extract.overrides import with_page_size, with_rate


def tree(paginator: object, **endpoint: object) -> dict[str, object]:
    return {
        "client": {"base_url": "https://a.example", "paginator": paginator},
        "resources": [{"name": "things", "endpoint": {"path": "/things", **endpoint}}],
    }


@pytest.mark.parametrize(
    "paginator",
    [
        "offset",
        {"type": "offset", "limit": 7},
        {"type": "page_number", "limit_param": "n"},
        {"type": "keyset", "after_param": "after", "limit_param": "n"},
    ],
)
def test_a_paginator_that_sends_the_size_gets_another_one(paginator):
    source = parse_source(with_page_size(tree(paginator), 50))
    assert getattr(source.client.paginator, "limit", None) == 50


def test_a_parameter_with_the_size_of_a_page_is_replaced():
    changed = with_page_size(tree("header_link", params={"per_page": 100, "sort": "id"}), 50)
    endpoint = parse_source(changed).resources[0].endpoint
    assert dict(endpoint.params) == {"per_page": 50, "sort": "id"}


def test_a_source_without_a_page_size_is_refused():
    with pytest.raises(UsageError, match="limit_param"):
        with_page_size(tree("header_link"), 50)


def test_the_rate_and_the_page_size_do_not_ask_for_a_full_pass():
    first = tree({"type": "offset"})
    changed = with_page_size(with_rate(first, "1/s"), 50)
    digests = {source_digest(parse_source(each), {}) for each in (first, changed)}
    assert len(digests) == 1
    assert parse_source(changed).client.rate == "1/s"
