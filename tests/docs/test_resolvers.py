"""The table of resolvers says what the registry has."""

import re

from headgate.core.provider import PRESETS
from headgate.handlers.download.resolvers.options import ResolverSettings
from headgate.handlers.download.resolvers.registry import RESOLVERS
from tests.kit.pages import ROOT
from tests.kit.reference import load_generator

PAGE = (ROOT / "docs" / "reference" / "resolvers.md").read_text("utf-8")
ROWS = {
    cells[1].strip(" `"): [cell.strip() for cell in cells[2:-1]]
    for line in PAGE.splitlines()
    if re.match(r"\| `[a-z_]+` \|", line) and len(cells := line.split("|")) == 7
}


def test_every_resolver_is_in_the_table_in_the_order_of_asking():
    assert [*ROWS] == [*RESOLVERS]


def test_the_table_says_what_each_is_asked_about():
    for name, (asked, *_) in ROWS.items():
        resolver = RESOLVERS[name]
        if resolver.rescue:
            assert asked == "links that are dead"
            continue
        assert ("(its own)" in asked) == bool(resolver.home), name
        kinds = {kind.strip() for kind in asked.removesuffix("(its own)").split(",")}
        assert kinds == set(resolver.kinds), name


def test_the_table_says_what_each_needs():
    for name, (_, needs, *_) in ROWS.items():
        resolver = RESOLVERS[name]
        assert (needs == "e-mail") == resolver.needs_email, name
        key = f"key: `{resolver.key_env}`"
        assert (key in needs) == bool(resolver.key_env), name
        assert (f"optional {key}" in needs) == (bool(resolver.key_env) and not resolver.needs_key)
        assert ("off unless wanted" in needs) == (not resolver.on), name


def test_the_table_says_how_each_answers_and_how_often_it_may_be_asked():
    for name, (*_, answers, manners) in ROWS.items():
        resolver = RESOLVERS[name]
        assert answers == resolver.about
        policy = PRESETS.get(resolver.provider) or resolver.policy
        assert manners.removesuffix(" (ours)") == (policy.rate if policy else "those of its host")


def test_every_setting_of_a_resolver_is_explained_in_its_own_words():
    sentences = load_generator().field_sentences(ResolverSettings)
    assert [*sentences] == [*ResolverSettings.__struct_fields__]
    for field, sentence in sentences.items():
        assert f"| `{field}` | {sentence} |" in PAGE
