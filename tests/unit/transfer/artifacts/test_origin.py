"""Bytes are added only to bytes of the same version."""

import pytest

from headgate.ports.artifacts import FileOrigin

URL = "http://a/b"
DATE = "Mon, 16 Nov 2026 09:00:00 GMT"


@pytest.mark.parametrize(
    ("origin", "validator"),
    [
        (FileOrigin(URL), ""),
        (FileOrigin(URL, '"1"'), '"1"'),
        (FileOrigin(URL, '"1"', DATE), '"1"'),
        (FileOrigin(URL, "", DATE), DATE),
        (FileOrigin(URL, 'W/"1"'), ""),
        (FileOrigin(URL, 'W/"1"', DATE), DATE),
    ],
)
def test_only_a_firm_validator_counts(origin, validator):
    assert origin.validator == validator


@pytest.mark.parametrize(
    ("earlier", "now", "continues"),
    [
        (FileOrigin(URL, '"1"'), FileOrigin(URL, '"1"', DATE), True),
        (FileOrigin(URL, '"1"'), FileOrigin(URL, '"2"'), False),
        (FileOrigin(URL, "", DATE), FileOrigin(URL, "", DATE), True),
        (FileOrigin(URL, "", DATE), FileOrigin(URL, '"1"', DATE), False),
        (FileOrigin(URL), FileOrigin(URL), False),
        (FileOrigin(URL, '"1"'), FileOrigin("http://a/c", '"1"'), False),
    ],
)
def test_what_continues_has_the_same_place_and_version(earlier, now, continues):
    assert now.continues(earlier) is continues
