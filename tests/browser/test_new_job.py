"""A new job: what is shown of a file, what keeps it from starting, and what becomes of it."""

import re
from pathlib import Path

import openpyxl
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.kit.api_server import ApiServer, rows_csv
from tests.kit.browser import Visitor


@pytest.fixture
def maker(visit: Visit, api: ApiServer) -> Visitor:
    someone = visit(api.user("maker"))
    someone.open("/jobs/new", "New job")
    return someone


def choose(someone: Visitor, path: Path) -> None:
    someone.page.get_by_label("Choose a file").set_input_files(path)


def test_bad_rows_are_told_beforehand_and_become_what_was_chosen(maker: Visitor, tmp_path: Path):
    file = tmp_path / "rows.csv"
    file.write_bytes(b"id,name\n1,a\n2\n3,c\n")
    choose(maker, file)
    page = maker.page
    group = page.get_by_role("group", name="A row that cannot be used")
    expect(group).to_contain_text("Line 3")
    page.get_by_label("Handler").select_option("shop.price")
    start = page.get_by_role("button", name="Start the job")
    expect(start).to_be_enabled()
    page.get_by_role("radio", name="Refuse the whole file").check()
    expect(start).to_be_disabled()
    expect(page.get_by_role("region", name="Start")).to_contain_text("Line 3 is bad")
    page.get_by_role("radio", name="Leave it out").check()
    start.click()
    expect(page).to_have_url(re.compile(r"/jobs/\d+$"))


def test_a_file_that_cannot_be_read_says_why_and_how_it_could(maker: Visitor, tmp_path: Path):
    file = tmp_path / "rows.csv"
    file.write_bytes("id,name\n1,café\n".encode("latin-1"))
    choose(maker, file)
    page = maker.page
    expect(page.get_by_role("group", name="A row that cannot be used")).to_contain_text("UTF-8")
    page.get_by_text("The rows look wrong?").click()
    page.get_by_label("Letters are written in").select_option("latin-1")
    expect(page.get_by_role("region", name="The first rows")).to_contain_text("café")


def test_the_sheet_of_a_workbook_is_chosen(maker: Visitor, tmp_path: Path):
    book = openpyxl.Workbook()
    book.active.append(["id"])
    book.active.append([1])
    other = book.create_sheet("Prices")
    other.append(["price"])
    other.append([7])
    book.save(tmp_path / "book.xlsx")
    choose(maker, tmp_path / "book.xlsx")
    page = maker.page
    page.get_by_text("The rows look wrong?").click()
    page.get_by_label("Sheet").select_option("Prices")
    rows = page.get_by_role("region", name="The first rows")
    expect(rows.get_by_role("columnheader", name="price")).to_be_visible()


def test_a_column_is_mapped_to_what_the_handler_needs(
    maker: Visitor, api: ApiServer, tmp_path: Path
):
    file = tmp_path / "rows.csv"
    file.write_text("thing,other\nriver,1\n")
    choose(maker, file)
    page = maker.page
    page.get_by_label("Handler").select_option("sample.words")
    start = page.get_by_role("button", name="Start the job")
    expect(start).to_be_disabled()
    page.get_by_label("Column for “word”").select_option("thing")
    start.click()
    expect(page).to_have_url(re.compile(r"/jobs/\d+$"))
    job_id = page.url.rpartition("/")[2]
    owner = api.user("maker")
    owner.ended(job_id)
    (item,) = owner.items(job_id)
    assert item["result"]["letters"] == 5


def test_a_source_that_may_not_be_read_is_refused_before_there_is_a_job(maker: Visitor):
    maker.expects("422")
    page = maker.page
    page.get_by_role("tab", name="A file elsewhere").click()
    page.get_by_label("Address of the file").fill("file:/etc/passwd")
    page.get_by_role("button", name="Look at its rows").click()
    expect(page.get_by_role("alert")).to_contain_text("roots")
    expect(page.get_by_role("button", name="Start the job")).to_be_disabled()


def test_a_lost_answer_makes_no_second_job(maker: Visitor, api: ApiServer, tmp_path: Path):
    maker.expects("net::ERR")
    file = tmp_path / "once.csv"
    file.write_bytes(rows_csv(3))
    choose(maker, file)
    page = maker.page
    page.get_by_label("Handler").select_option("shop.price")
    page.get_by_label("Name", exact=True).fill("Only once")
    start = page.get_by_role("button", name="Start the job")

    def lose(route) -> None:
        route.fetch()  # the server has it, and nobody hears the answer
        route.abort()

    page.route("**/api/jobs", lose, times=1)
    start.click()
    expect(page.get_by_role("region", name="Start").get_by_role("alert")).to_contain_text(
        "does not answer"
    )
    start.click()
    expect(page).to_have_url(re.compile(r"/jobs/\d+$"))
    assert len(api.user("maker").pages("/api/jobs", q="Only once")) == 1
