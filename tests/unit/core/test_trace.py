"""A trace shows the user's own lines, is bounded, and holds no secret."""

import json
import linecache
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import headgate
from headgate.core.trace import FRAMES, TEXT_BYTES, Grounds, Trace, trace_of
from headgate.handlers.code import load_file

HEADGATE = str(Path(headgate.__file__).parent)
INTERPRETER = str(Path(os.__file__).parent)

Load = Callable[[str], ModuleType]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def loaded(source: str) -> ModuleType:
        path = tmp_path / "lookup.py"
        path.write_text(source)
        return load_file(path)

    return loaded


def traced(error: BaseException, project: Path) -> Trace:
    found = trace_of(error, Grounds(HEADGATE, INTERPRETER, str(project), code_at=linecache.getline))
    assert found is not None
    return found


def raised(call: Callable[[], object]) -> BaseException:
    try:
        call()
    except Exception as error:  # noqa: BLE001  whatever the handler raises
        return error
    raise AssertionError("it did not raise")


def test_the_last_lines_of_the_users_code_are_named_relative_to_the_project(
    load: Load, tmp_path: Path
) -> None:
    module = load('def inner(row):\n    return row["nick"]\n\ndef price(row):\n    inner(row)\n')
    trace = traced(raised(lambda: module.price({})), tmp_path)
    assert trace.where == "lookup.py:2"
    lines = trace.text.splitlines()
    assert lines[-5:] == [
        '  File "lookup.py", line 5, in price',
        "    inner(row)",
        '  File "lookup.py", line 2, in inner',
        '    return row["nick"]',
        "KeyError: 'nick'",
    ]


def test_frames_of_the_interpreter_and_of_headgate_are_left_out(load: Load, tmp_path: Path) -> None:
    module = load("import json\n\ndef price(row):\n    return json.loads('{')\n")
    trace = traced(raised(lambda: module.price({})), tmp_path)
    assert trace.where == "lookup.py:4"
    assert "decoder.py" not in trace.text
    module = load("def f(row):\n    return row['a']\n")
    error = raised(lambda: load_file(tmp_path / "gone.py"))
    grounds = Grounds(HEADGATE, INTERPRETER, str(tmp_path))
    shown = trace_of(error, grounds)
    assert shown is None or "headgate/handlers" not in shown.text


def test_the_project_is_named_before_a_package_that_it_calls(tmp_path: Path) -> None:
    package = tmp_path / "venv" / "site-packages" / "shop"
    package.mkdir(parents=True)
    (package / "wire.py").write_text("def ask():\n    raise OSError('down')\n")
    wire = load_file(package / "wire.py")
    (tmp_path / "own.py").write_text("def price(wire):\n    return wire.ask()\n")
    own = load_file(tmp_path / "own.py")
    trace = traced(raised(lambda: own.price(wire)), tmp_path)
    assert trace.where == "own.py:2"
    assert '  File "site-packages/shop/wire.py", line 2, in ask' in trace.text


def test_a_path_outside_the_project_is_relative_to_where_it_is_imported_from(
    load: Load, tmp_path: Path
) -> None:
    module = load("def price(row):\n    return 1 / 0\n")
    error = raised(lambda: module.price({}))
    grounds = Grounds(HEADGATE, INTERPRETER, "/elsewhere", (str(tmp_path),))
    trace = trace_of(error, grounds)
    assert trace is not None
    assert trace.where == "lookup.py:2"


def test_a_cause_stands_before_what_it_caused(load: Load, tmp_path: Path) -> None:
    module = load(
        "def price(row):\n"
        "    try:\n"
        "        row['a']\n"
        "    except KeyError as error:\n"
        "        raise ValueError('no price') from error\n"
    )
    trace = traced(raised(lambda: module.price({})), tmp_path)
    assert trace.where == "lookup.py:5"
    assert trace.text.index("KeyError: 'a'") < trace.text.index("This was the cause of:")
    assert trace.text.endswith("ValueError: no price")


def test_an_exception_while_another_is_handled_shows_both(load: Load, tmp_path: Path) -> None:
    module = load(
        "def price(row):\n"
        "    try:\n"
        "        row['a']\n"
        "    except KeyError:\n"
        "        return row.b\n"
        "\n"
        "def quiet(row):\n"
        "    try:\n"
        "        row['a']\n"
        "    except KeyError:\n"
        "        raise ValueError from None\n"
    )
    text = traced(raised(lambda: module.price({})), tmp_path).text
    assert text.index("KeyError: 'a'") < text.index("AttributeError")
    alone = traced(raised(lambda: module.quiet({})), tmp_path).text
    assert "KeyError: 'a'" not in alone
    assert alone.endswith("\nValueError")


def test_a_group_shows_its_first_members(load: Load, tmp_path: Path) -> None:
    module = load(
        "def one(n):\n"
        "    raise ValueError(f'row {n}')\n"
        "\n"
        "def price(row):\n"
        "    found = []\n"
        "    for n in range(9):\n"
        "        try:\n"
        "            one(n)\n"
        "        except ValueError as error:\n"
        "            found.append(error)\n"
        "    raise ExceptionGroup('all failed', found)\n"
    )
    trace = traced(raised(lambda: module.price({})), tmp_path)
    assert "ExceptionGroup: all failed (9 sub-exceptions)" in trace.text
    assert "Exception 1 of 9 in the group:" in trace.text
    assert "ValueError: row 0" in trace.text
    assert trace.where == "lookup.py:2"


def test_a_syntax_error_names_the_file_that_has_it(load: Load, tmp_path: Path) -> None:
    (tmp_path / "rules.py").write_text("a = 1\nb = = 2\n")
    module = load("def price(row):\n    import rules\n")
    text = traced(raised(lambda: module.price({})), tmp_path).text
    assert '  File "rules.py", line 2\n    b = = 2\nSyntaxError:' in text
    assert '  File "lookup.py", line 2, in price' in text


def test_endless_recursion_stays_short(load: Load, tmp_path: Path) -> None:
    module = load("def price(row):\n    return price(row)\n")
    trace = traced(raised(lambda: module.price({})), tmp_path)
    assert trace.where == "lookup.py:2"
    assert trace.text.count("File ") <= FRAMES
    assert "(this call is repeated)" in trace.text
    assert trace.text.splitlines()[-1].startswith("RecursionError:")


@pytest.mark.parametrize(
    "message", ["x" * 100_000, "€" * 100_000, "\ud800\0" * 4_000, "file \udcff\0"]
)
def test_the_text_is_bounded_and_every_store_can_keep_it(
    load: Load, tmp_path: Path, message: str
) -> None:
    module = load(
        "def price(row, depth=0):\n"
        "    try:\n"
        "        raise ValueError(row)\n"
        "    except ValueError as error:\n"
        "        raise OSError(row) from error\n"
    )
    trace = traced(raised(lambda: module.price(message)), tmp_path)
    assert len(trace.text.encode()) <= TEXT_BYTES
    assert "\0" not in trace.text
    assert json.loads(json.dumps(trace.text)) == trace.text


def test_secrets_in_messages_and_in_code_are_hidden(load: Load, tmp_path: Path) -> None:
    module = load(
        "def price(row):\n"
        "    raise ValueError('http://me:hunter2@host/?a=1', dict(api_key='abc123'))\n"
    )
    text = traced(raised(lambda: module.price({})), tmp_path).text
    assert "hunter2" not in text
    assert "abc123" not in text


def test_an_exception_that_cannot_speak_or_is_its_own_cause_does_no_harm(
    load: Load, tmp_path: Path
) -> None:
    module = load(
        "class Mute(Exception):\n"
        "    def __str__(self):\n"
        "        raise ValueError\n"
        "\n"
        "def price(row):\n"
        "    error = Mute()\n"
        "    error.__cause__ = error\n"
        "    raise error\n"
    )
    assert traced(raised(lambda: module.price({})), tmp_path).where == "lookup.py:8"
