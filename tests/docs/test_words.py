"""One vocabulary: retired words do not come back, and a class name means one thing."""

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.pages import ROOT

SOURCE = ROOT / "src" / "headgate"
MODULES = sorted(SOURCE.rglob("*.py"))
COPY = [
    file
    for file in sorted((ROOT / "web" / "src").rglob("*.ts*"))
    if file.name != "schema.ts" and ".test." not in file.name
]

NAMES = {
    "album": "image_set",
    "bury": "reap",
    "clerk": "file_worker",
    "crew": "lane_pool",
    "custody": "caller_body",
    "deaf": "signals_blocked",
    "dealt": "interleaved",
    "desk": "cli",
    "employee": "child",
    "errand": "context",
    "fly": "run",
    "foreman": "supervisor",
    "heed": "apply",
    "inquiry": "fetch",
    "leash": "control_pipe",
    "lineup": "wait_queue",
    "office": "app_state",
    "outlet": "output",
    "passage": "exchange",
    "scribe": "file_writer",
    "shelf": "store",
    "staff": "children",
    "steering": "control",
    "whose": "viewer",
    "wishes": "options",
    "workshop": "runtimes",
}
"""Parts of identifiers and of module names that are retired, and what to use instead."""

WORDS = {
    r"whoever": "name the person or the program",
    r"nobody": "say who does not: no worker, no user",
    r"somebody": "say who: a user, another process",
    r"anew": "again",
    r"for ever": "forever, or the real limit",
    r"of late": "recently, or the span",
    r"come by": "say where it is from",
    r"so (many|much|long|far)(?! as\b)": "name the number and its unit",
    r"those (that|who|which)": "name them",
    r"(?<!there )(is|are|was|were) no(?! (longer|more|different)\b)": "is not a",
    r"clerks?": "file worker",
    r"foreman": "supervisor",
    r"errands?": "request",
    r"the (bell|desk|leash|office|shelf|staff)": "the industry's word",
}
"""Patterns that are retired in docstrings, comments, messages and web copy."""

TWINS = """
Accepted BadRow Budget Call Counts DeadLetters DeadOfJob DeadTotals ErrorGroup Eta
Example Export Exports Filter Gate GateChange GatePoint Gates Health HostDown Item
ItemWhole Job JobDetail Me Member NewJob NewToken NotFound Oldest OldestAtProvider
OldestOfJob Override Page Preview Queues Replay Replayed Reprocessed System Token Tokens
User Users Wait Why Workers
"""
TWICE = dict.fromkeys(
    TWINS.split(), "a value of the API or of the core, and its twin in the client"
)
"""Class names that may be defined twice, each with its reason."""


def identifiers(file: Path) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(file.read_text("utf-8")).readline):
        if token.type == tokenize.NAME:
            yield token.start[0], token.string


def parts(name: str) -> set[str]:
    return set(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_").split("_"))


def texts(file: Path) -> Iterator[tuple[int, str]]:
    """Docstrings, comments and strings with at least two words."""
    for token in tokenize.generate_tokens(io.StringIO(file.read_text("utf-8")).readline):
        if token.type == tokenize.COMMENT or (
            token.type == tokenize.STRING and " " in token.string
        ):
            yield token.start[0], token.string


def found_in(text: str) -> Iterator[tuple[str, str]]:
    for pattern, instead in WORDS.items():
        if match := re.search(rf"(?<!\w)(?:{pattern})(?!\w)", text, re.IGNORECASE):
            yield match[0], instead


@pytest.mark.parametrize("file", MODULES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_identifiers_use_words_of_the_industry(file: Path):
    used = list(identifiers(file)) + [(0, part) for part in file.relative_to(SOURCE).parts]
    retired = [
        f"{file.relative_to(ROOT)}:{line}: {name}: write {NAMES[part]}"
        for line, name in used
        for part in parts(name.removesuffix(".py")) & NAMES.keys()
    ]
    assert not retired, "\n".join(retired)


@pytest.mark.parametrize("file", MODULES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_texts_are_plain(file: Path):
    retired = [
        f"{file.relative_to(ROOT)}:{line}: {words!r}: {instead}"
        for line, text in texts(file)
        for words, instead in found_in(text)
    ]
    assert not retired, "\n".join(retired)


def test_the_web_ui_speaks_plainly():
    retired = [
        f"{file.relative_to(ROOT)}:{number}: {words!r}: {instead}"
        for file in COPY
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1)
        for words, instead in found_in(line)
    ]
    assert not retired, "\n".join(retired)


def test_a_class_name_means_one_thing():
    places: dict[str, list[str]] = defaultdict(list)
    for file in MODULES:
        for node in ast.parse(file.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(file.relative_to(ROOT)))
    twice = {name: files for name, files in places.items() if len(files) > 1}
    assert twice.keys() == TWICE.keys(), {
        name: twice.get(name) for name in twice.keys() ^ TWICE.keys()
    }
