"""The page about lookups names every key, and its descriptions are good ones."""

import tomllib

import msgspec
import pytest

from headgate.handlers.lookup.description import (
    Description,
    NotFoundWhen,
    Request,
    ReviewWhen,
    Secret,
    Step,
    parse_description,
)
from tests.kit.pages import ROOT, blocks

PAGE = ROOT / "docs" / "how-to" / "lookup.md"


@pytest.mark.parametrize("part", [Description, Request, NotFoundWhen, ReviewWhen])
def test_every_key_is_documented(part: type[msgspec.Struct]):
    rows = [line.split("|")[1] for line in PAGE.read_text("utf-8").splitlines() if "|" in line]
    names = [field.name for field in msgspec.structs.fields(part)]
    assert [name for name in names if not any(f"`{name}`" in row for row in rows)] == []


def test_every_step_and_the_words_of_a_secret_are_documented():
    text = PAGE.read_text("utf-8")
    assert [step for step in Step if f"`{step}`" not in text] == []
    assert all(f"{field.name} = " in text for field in msgspec.structs.fields(Secret))


def test_the_descriptions_of_the_page_are_good_but_for_the_one_that_is_not():
    titled = {
        block.title: tomllib.loads(block.text)
        for block in blocks(PAGE)
        if block.title and "[request]" in block.text
    }
    del titled["wrong.toml"]
    assert sorted(titled) == ["labels.toml", "prices.toml", "search.toml"]
    for tree in titled.values():
        parse_description(tree)


@pytest.mark.parametrize("file", sorted((ROOT / "examples").rglob("*.toml")), ids=lambda f: f.name)
def test_the_examples_are_good_descriptions(file):
    parse_description(tomllib.loads(file.read_text("utf-8")))
