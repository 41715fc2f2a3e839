"""Every feature of the program is documented, and everything documented exists."""

import inspect
import re
import subprocess
import sys

import pytest

from headgate.app.cli.exit_codes import Exit
from headgate.app.settings import LEAVES, Settings
from headgate.core.fault import FaultClass
from headgate.core.provider import PRESETS
from headgate.core.status import ItemStatus, JobState
from headgate.handlers.function import handler
from tests.kit.pages import ROOT, blocks
from tests.kit.reference import load_generator

REFERENCE = ROOT / "docs" / "reference"


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text("utf-8")


@pytest.fixture
def generate():
    return load_generator()


def test_generated_parts_are_current(generate):
    stale = [found.name for found in generate.stale()]
    assert stale == [], "run: .venv/bin/python docs/generate.py"


def test_every_part_stands_on_a_page(generate):
    marks = {
        mark
        for file in REFERENCE.glob("*.md")
        for _, mark, _ in generate.MARKED.findall(file.read_text("utf-8"))
    }
    assert marks == set(generate.PARTS)


def test_every_command_is_documented(generate):
    text = page("reference/cli.md")
    names = [command.path for command in generate.commands()]
    assert len(names) > 25
    assert [name for name in names if f"\n## {name}\n" not in text] == []


def test_every_command_and_option_says_what_it_does(generate):
    silent = [command.path for command in generate.commands() if not command.about]
    silent += [
        f"{command.path} {parameter.name}"
        for command in generate.commands()
        for parameter in command.parameters
        if not parameter.info.help
    ]
    assert silent == []


def test_every_setting_says_what_it_does(generate):
    meanings = dict(generate.documented_fields(Settings))
    assert [path for path in LEAVES if not meanings[path]] == []


def test_every_setting_is_documented():
    text = page("reference/settings.md")
    assert [leaf.path for leaf in LEAVES.values() if f"`{leaf.variable}`" not in text] == []


def test_every_setting_of_a_provider_says_what_it_does(generate):
    silent = [
        f"{section}.{field}"
        for section, policy in generate.PROVIDER_PARTS.items()
        for field in policy.__struct_fields__
        if not generate.field_sentences(policy).get(field)
    ]
    assert silent == []


def test_every_word_of_a_source_says_what_it_does():
    rows = [line for line in page("reference/sources.md").splitlines() if line.startswith("| `")]
    assert len(rows) > 80
    assert [row for row in rows if row.endswith("|  |")] == []


def test_every_shipped_provider_says_where_its_manners_are_published():
    text = page("reference/providers.md")
    shipped = re.findall(r"^### ([\w-]+)\n\n(.+)$", text, re.MULTILINE)
    assert [name for name, manners in shipped if "<https://" in manners] == [*PRESETS]


@pytest.mark.parametrize("status", [*ItemStatus, *JobState])
def test_every_status_is_documented(status):
    assert f"| `{status}` | " in page("reference/states.md")


@pytest.mark.parametrize("kind", list(FaultClass))
def test_every_class_of_failure_is_documented(kind):
    assert f"`{kind}`" in page("reference/states.md")


@pytest.mark.parametrize("code", list(Exit))
def test_every_exit_code_is_documented(code):
    assert f"| `{int(code)}` | {code.name} |" in page("reference/exit-codes.md")


def test_every_option_of_a_handler_is_documented():
    text = page("how-to/handlers.md")
    options = [name for name in inspect.signature(handler).parameters if name != "name"]
    assert [name for name in options if f"`{name}=" not in text] == []


def test_commands_named_in_text_exist(generate):
    known = [command.path for command in generate.commands()]
    groups = {path.rpartition(" ")[0] for path in known}
    unknown = set()
    for file in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for named in re.findall(r"`(headgate [a-z][a-z -]*)", file.read_text("utf-8")):
            words = [word for word in named.split() if not word.startswith("-")]
            if (
                not any(" ".join(words[:n]) in known for n in (2, 3))
                and " ".join(words) not in groups
            ):
                unknown.add(f"{file.name}: {named}")
    assert unknown == set()


def test_settings_files_in_pages_can_be_loaded(tmp_path):
    for file in (ROOT / "docs").rglob("*.md"):
        for block in blocks(file):
            if block.title == "headgate.toml":
                target = tmp_path / "headgate.toml"
                target.write_text(block.text, "utf-8")
                ended = subprocess.run(
                    [sys.executable, "-m", "headgate", "config", "show", "-c", str(target)],
                    capture_output=True,
                    text=True,
                    check=False,
                )
                assert ended.returncode == 0, ended.stderr
