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
PACKAGES = sorted({file.relative_to(SOURCE).parts[0] for file in MODULES})
COPY = [file for file in sorted((ROOT / "web" / "src").rglob("*.ts*")) if file.name != "schema.ts"]

TESTS = sorted(
    file
    for folder in ("tests", "benchmarks")
    for file in (ROOT / folder).rglob("*.py")
    if file.name != "test_words.py"
)
FIRST_PLAIN_RECORD = "0027"
"""Earlier decision records are not edited: they keep the words of their time."""
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *(
        page
        for page in sorted((ROOT / "docs").rglob("*.md"))
        if page.parent.name != "decisions" or page.name >= FIRST_PLAIN_RECORD
    ),
]
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)

NAMES = {
    "album": "image_set",
    "anew": "refetch",
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

TWICE = {
    "NewJob": "what a program sends to a server, and what a store makes of it",
    "NotFound": "an outcome of a handler, and an error of the client; both are public",
}
"""Class names that may be defined twice, each with its reason."""


ANY_WORD = re.compile(rf"(?<!\w)(?:{'|'.join(WORDS)})(?!\w)", re.IGNORECASE)


def tokens(file: Path) -> Iterator[tokenize.TokenInfo]:
    return tokenize.generate_tokens(io.StringIO(file.read_text("utf-8")).readline)


def parts(name: str) -> set[str]:
    return set(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_").split("_"))


def is_prose(token: tokenize.TokenInfo) -> bool:
    """Docstrings, comments, and strings with at least two words."""
    return token.type == tokenize.COMMENT or (token.type == tokenize.STRING and " " in token.string)


def retired_names(line: int, name: str) -> Iterator[tuple[int, str, str]]:
    for part in parts(name) & NAMES.keys():
        yield line, name, f"write {NAMES[part]}"


def retired_words(line: int, text: str) -> Iterator[tuple[int, str, str]]:
    if ANY_WORD.search(text) is None:
        return
    for pattern, instead in WORDS.items():
        if match := re.search(rf"(?<!\w)(?:{pattern})(?!\w)", text, re.IGNORECASE):
            yield line, match[0], instead


def retired_in(file: Path) -> Iterator[tuple[int, str, str]]:
    for part in file.relative_to(SOURCE).with_suffix("").parts:
        yield from retired_names(0, part)
    for token in tokens(file):
        if token.type == tokenize.NAME:
            yield from retired_names(token.start[0], token.string)
        elif is_prose(token):
            yield from retired_words(token.start[0], token.string)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_uses_words_of_the_industry(package: str):
    files = [file for file in MODULES if file.relative_to(SOURCE).parts[0] == package]
    assert files
    retired = [
        f"{file.relative_to(ROOT)}:{line}: {found!r}: {instead}"
        for file in files
        for line, found, instead in retired_in(file)
    ]
    assert not retired, "\n".join(retired)


def test_tests_and_benchmarks_use_names_of_the_industry():
    """`whose` is fine in the name of a test, which is a sentence."""
    retired: list[str] = []
    for file in TESTS:
        names = [(0, part) for part in file.relative_to(ROOT).with_suffix("").parts]
        names += [(t.start[0], t.string) for t in tokens(file) if t.type == tokenize.NAME]
        retired += [
            f"{file.relative_to(ROOT)}:{line}: {name!r}: {instead}"
            for number, each in names
            for line, name, instead in retired_names(number, each.replace("_whose_", "_"))
        ]
    assert TESTS
    assert not retired, "\n".join(retired)


def sentences(file: Path) -> Iterator[tuple[int, str]]:
    """Docstrings, comments, and the names of tests as sentences. Strings may be test data."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if text := ast.get_docstring(node, clean=False):
                yield node.body[0].lineno, text
            if not isinstance(node, ast.Module) and node.name.startswith("test_"):
                yield node.lineno, node.name.replace("_", " ")
    for token in tokens(file):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


@pytest.mark.parametrize("folder", ["tests", "benchmarks"])
def test_tests_and_benchmarks_are_written_plainly(folder: str):
    files = [file for file in TESTS if file.is_relative_to(ROOT / folder)]
    assert files
    retired = [
        f"{file.relative_to(ROOT)}:{line}: {found!r}: {instead}"
        for file in files
        for number, text in sentences(file)
        for line, found, instead in retired_words(number, text)
    ]
    assert not retired, "\n".join(retired)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_uses_plain_words(page: Path):
    prose = CODE.sub(lambda code: "\n" * code[0].count("\n"), page.read_text("utf-8"))
    retired = [
        f"{page.relative_to(ROOT)}:{line}: {found!r}: {instead}"
        for number, text in enumerate(prose.splitlines(), 1)
        for line, found, instead in retired_words(number, text)
    ]
    assert not retired, "\n".join(retired)


def test_the_web_ui_speaks_plainly():
    retired = [
        f"{file.relative_to(ROOT)}:{line}: {found!r}: {instead}"
        for file in COPY
        for number, text in enumerate(file.read_text("utf-8").splitlines(), 1)
        for line, found, instead in retired_words(number, text)
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
