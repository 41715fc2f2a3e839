"""Every command in the documentation does what the page says."""

from pathlib import Path

import pytest

from tests.kit.pages import ROOT, PageRunner, blocks, commands, is_static

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
RUN = [
    page for page in PAGES if any(block.language in {"console", "bash"} for block in blocks(page))
]
SHELLS = {"", "sh", "shell", "zsh", "shell-session"}
POSTGRES_URL = "postgresql://headgate@localhost/headgate"


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def needs_postgres(page: Path) -> bool:
    return POSTGRES_URL in page.read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("page", [one for one in RUN if not needs_postgres(one)], ids=name_of)
def test_the_commands_of_a_page_do_what_it_says(page, tmp_path):
    assert PageRunner(tmp_path).run(page) > 0


@pytest.mark.postgres
@pytest.mark.slow
@pytest.mark.parametrize("page", [one for one in RUN if needs_postgres(one)], ids=name_of)
def test_the_commands_of_a_page_about_postgresql(page, tmp_path, postgres_url):
    runner = PageRunner(tmp_path, {POSTGRES_URL: postgres_url})
    assert runner.run(page) > 0


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_stand_in_blocks_that_are_run(page):
    odd = [block.line for block in blocks(page) if block.language in SHELLS]
    assert not odd, f"name the language; use ```console or ```bash for what is run: lines {odd}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_python_in_a_page_is_python(page):
    for block in blocks(page):
        if block.language == "python":
            compile(block.text, f"{name_of(page)}:{block.line}", "exec")


def test_only_installing_and_make_are_not_run():
    unrun = {
        command.text.split()[0]
        for page in RUN
        for block in blocks(page)
        if block.language in {"console", "bash"}
        for command in commands(block)
        if is_static(command.text)
    }
    assert unrun <= {"make", "pip"}
