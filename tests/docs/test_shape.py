"""Budgets that keep the code readable; past them, split it or give the reason here."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.pages import ROOT

MODULE_LINES = 400
FUNCTION_LINES = 50
COMMAND_LINES = 65
PARAMETERS = 6
PUBLIC_METHODS = 15
ROOT_ENTRIES = 14

CODE = sorted(
    file
    for folder in ("src", "benchmarks", "examples", "docs", "tests")
    for file in (ROOT / folder).rglob("*.py")
)
PRODUCT = [file for file in CODE if not file.is_relative_to(ROOT / "tests") or "kit" in file.parts]
OURS = [file for file in CODE if file.is_relative_to(ROOT / "src")]
WIDE = {
    "JobStore": "jobs, workers and duties: all that is changed rarely, in one contract",
    "ObservedJobs": "implements JobStore",
    "SqlJobs": "implements JobStore",
}
BUILT = {"build", "dist", "htmlcov", "screenshots", "site"}


def name_of(file: Path) -> str:
    return str(file.relative_to(ROOT))


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf-8"))


def test_modules_are_short():
    lines = {name_of(file): len(file.read_text("utf-8").splitlines()) for file in PRODUCT}
    assert {name: n for name, n in lines.items() if n > MODULE_LINES} == {}


def test_functions_are_short():
    """The body is counted: a command has a line for each of its options."""
    long = {
        f"{name_of(file)}:{function.name}": length
        for file in CODE
        for function in functions(parsed(file))
        if (length := (function.end_lineno or 0) - function.body[0].lineno + 1) > FUNCTION_LINES
    }
    assert long == {}


def test_commands_with_their_options_are_short():
    """An option that takes several lines is declared beside its command, or shared."""
    long = {
        f"{name_of(file)}:{function.name}": length
        for file in OURS
        for function in functions(parsed(file))
        if (length := (function.end_lineno or 0) - function.lineno + 1) > COMMAND_LINES
    }
    assert long == {}


def test_functions_take_few_parameters():
    """Commands are excused, as in ruff's settings; so is a function with a reason beside a noqa."""
    wide = {}
    for file in OURS:
        lines = file.read_text("utf-8").splitlines()
        for function in functions(parsed(file)):
            arguments = function.args
            given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            count = sum(argument.arg not in {"self", "cls"} for argument in given)
            faces = {"cli", "api"} & set(file.parts)  # as many parameters as options or filters
            excused = "PLR0913" in lines[function.lineno - 1] or faces
            if count > PARAMETERS and not excused:
                wide[f"{name_of(file)}:{function.name}"] = count
    assert wide == {}


def test_classes_have_few_public_methods():
    wide = {}
    for file in OURS:
        for node in ast.walk(parsed(file)):
            if isinstance(node, ast.ClassDef) and node.name not in WIDE:
                members = [
                    each
                    for each in node.body
                    if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
                ]
                public = [each.name for each in members if not each.name.startswith("_")]
                if len(public) > PUBLIC_METHODS:
                    wide[f"{name_of(file)}:{node.name}"] = len(public)
    assert wide == {}


def test_the_root_stays_small():
    entries = {entry.name for entry in ROOT.iterdir() if not entry.name.startswith(".")}
    made_here = {name for name in entries - BUILT if not re.fullmatch(r".*\.(db|log)(-\w+)?", name)}
    assert len(made_here) <= ROOT_ENTRIES, sorted(made_here)


@pytest.mark.parametrize("word", ["utils", "common", "helpers", "manager", "base", "v2"])
def test_no_module_is_a_drawer(word):
    assert [name_of(file) for file in OURS if word in file.stem.split("_")] == []


def test_each_catch_of_all_errors_gives_its_reason():
    bare = [
        f"{name_of(file)}:{number}"
        for file in OURS
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1)
        if "BLE001" in line and not re.search(r"BLE001  \S+ \S+ \S+", line)
    ]
    assert bare == []
