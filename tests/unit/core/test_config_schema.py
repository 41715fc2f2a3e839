"""A job is configured as its handler declares, or the field and its limit are named."""

import pytest

from headgate.core.config_schema import require_config
from headgate.core.errors import BadConfig

AGE = {"type": "integer", "minimum": 1, "maximum": 365}


def problems(schema, config):
    try:
        require_config(schema, config)
    except BadConfig as error:
        return dict(error.problems)
    return {}


@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        (AGE, 99_999, "must be at most 365, not 99999"),
        (AGE, 0, "must be at least 1, not 0"),
        (AGE, "12", 'must be a whole number, not "12"'),
        (AGE, 1.5, "must be a whole number, not 1.5"),
        (AGE, True, "must be a whole number, not true"),
        ({"type": "number", "exclusiveMinimum": 0}, 0, "must be more than 0, not 0"),
        ({"type": "number", "exclusiveMaximum": 1}, 1, "must be less than 1, not 1"),
        ({"type": "number", "multipleOf": 0.1}, 0.25, "must be a multiple of 0.1, not 0.25"),
        ({"type": "boolean"}, "yes", 'must be true or false, not "yes"'),
        ({"enum": ["EUR", "USD"]}, "GBP", 'must be one of "EUR", "USD", not "GBP"'),
        ({"const": 1}, True, "must be 1, not true"),
        ({"type": "string", "maxLength": 3}, "long", "must have at most 3 characters, not 4"),
        ({"type": "string", "minLength": 1}, "", "must have at least 1 characters, not 0"),
        ({"type": "string", "pattern": "^[a-z]+$"}, "A", 'must match ^[a-z]+$, which "A" does not'),
        ({"type": "array", "maxItems": 1}, [1, 2], "must have at most 1 entries, not 2"),
        ({"type": ["string", "null"]}, 3, "must be text or null, not 3"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 3, "must be text, not 3"),
        ({"allOf": [{"minimum": 2}, {"maximum": 1}]}, 2, "must be at most 1, not 2"),
        ({"$ref": "#/$defs/age"}, 400, "must be at most 365, not 400"),
    ],
)
def test_a_field_is_refused_with_its_limit(schema, value, said):
    whole = {"type": "object", "properties": {"field": schema}, "$defs": {"age": AGE}}
    assert problems(whole, {"field": value}) == {"field": said}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (AGE, 365),
        (AGE, 30.0),
        ({"type": "number", "multipleOf": 0.1}, 0.3),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, None),
        ({"type": "decimal"}, "a type that JSON Schema does not have"),
        ({"format": "uri"}, "formats are not judged"),
        ({"$ref": "#/$defs/none"}, 1),
        ({"$ref": "#"}, 1),
        (True, object),
    ],
)
def test_fields_that_the_schema_does_not_forbid_are_accepted(schema, value):
    assert problems({"properties": {"field": schema}}, {"field": value}) == {}


def test_fields_are_named_wherever_they_are():
    schema = {
        "type": "object",
        "required": ["service"],
        "properties": {
            "limits": {
                "type": "object",
                "properties": {"ages": {"type": "array", "items": AGE}},
                "additionalProperties": False,
            }
        },
        "additionalProperties": {"type": "string"},
    }
    config = {"limits": {"ages": [1, 500], "other": 1}, "note": 3}
    assert problems(schema, config) == {
        "service": "is required",
        "limits.ages.1": "must be at most 365, not 500",
        "limits.other": "is not an option of this handler; its options are: ages",
        "note": "must be text, not 3",
    }


def test_without_a_schema_every_config_is_accepted():
    assert problems(None, {"x": object}) == {}


def test_the_message_names_fields_and_limits():
    with pytest.raises(BadConfig) as caught:
        require_config({"properties": {"age": AGE}}, {"age": 400})
    assert str(caught.value) == (
        "the configuration does not fit the handler: `age` must be at most 365, not 400"
    )
