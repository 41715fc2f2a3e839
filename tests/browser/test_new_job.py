"""A new job: what is shown of a file, what keeps it from starting, and what becomes of it."""

import re
from pathlib import Path

import openpyxl
import pytest
from playwright.sync_api import Locator, expect

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
    group = page.get_by_role("group", name="Invalid rows")
    expect(group).to_contain_text("Line 3")
    page.get_by_label("Handler").select_option("shop.price")
    start = page.get_by_role("button", name="Start job")
    expect(start).to_be_enabled()
    page.get_by_role("radio", name="Stop the job").check()
    expect(start).to_be_disabled()
    expect(page.get_by_role("region", name="Start")).to_contain_text("Line 3 is invalid")
    page.get_by_role("radio", name="Leave out").check()
    start.click()
    expect(page).to_have_url(re.compile(r"/jobs/\d+$"))


def test_a_file_that_cannot_be_read_says_why_and_how_it_could(maker: Visitor, tmp_path: Path):
    file = tmp_path / "rows.csv"
    file.write_bytes("id,name\n1,café\n".encode("latin-1"))
    choose(maker, file)
    page = maker.page
    notice = page.get_by_role("alert").filter(has_text="not in UTF-8")
    expect(notice).to_be_visible()
    # It stands above the rows, and the job does not start as it is.
    rows = page.get_by_role("region", name="First rows")
    assert top_of(notice) < top_of(rows)
    page.get_by_label("Handler").select_option("shop.price")
    start = page.get_by_role("button", name="Start job")
    expect(start).to_be_disabled()
    notice.get_by_role("button", name="Read as Windows-1252").click()
    expect(rows).to_contain_text("café")
    expect(notice).to_have_count(0)
    expect(start).to_be_enabled()
    page.get_by_text("Import settings").click()
    expect(page.get_by_label("Encoding")).to_have_value("cp1252")


def top_of(place: Locator) -> float:
    box = place.bounding_box()
    assert box is not None
    return box["y"]


def test_a_header_in_another_encoding_is_mended_with_one_click(maker: Visitor, tmp_path: Path):
    maker.expects("422")
    file = tmp_path / "rows.csv"
    file.write_bytes("id,größe\n1,2\n".encode("latin-1"))
    choose(maker, file)
    maker.page.get_by_role("button", name="Read as Windows-1252").click()
    header = maker.page.get_by_role("columnheader", name="größe")
    expect(header).to_be_visible()


def test_a_setting_beyond_its_limit_is_told_and_stops_the_start(maker: Visitor, tmp_path: Path):
    file = tmp_path / "rows.csv"
    file.write_text("id\n1\n")
    choose(maker, file)
    page = maker.page
    page.get_by_label("Handler").select_option("shop.ask")
    page.get_by_label("Service").fill("http://shop.test")
    age = page.get_by_label("Oldest price")
    expect(page.get_by_text("1 to 365.")).to_be_visible()
    start = page.get_by_role("button", name="Start job")
    expect(start).to_be_enabled()
    age.fill("99999")
    expect(page.get_by_role("alert").filter(has_text="at most 365")).to_be_visible()
    expect(start).to_be_disabled()
    age.fill("30")
    expect(start).to_be_enabled()


def test_what_was_filled_in_is_not_lost_by_accident(maker: Visitor, tmp_path: Path):
    file = tmp_path / "rows.csv"
    file.write_text("id\n1\n")
    choose(maker, file)
    page = maker.page
    expect(page.get_by_role("region", name="First rows")).to_be_visible()
    # A file that is dropped beside the place for it does not open in the browser.
    stopped = page.evaluate(
        """() => ["dragover", "drop"].map((kind) => {
            const carried = new DataTransfer();
            carried.items.add(new File(["id"], "other.csv"));
            const event = new DragEvent(kind, {
                bubbles: true, cancelable: true, dataTransfer: carried });
            return !document.querySelector("h1").dispatchEvent(event);
        })"""
    )
    assert stopped == [True, True]
    page.get_by_role("link", name="Providers").or_(
        page.get_by_role("link", name="Dead letters")
    ).first.click()
    asked = page.get_by_role("dialog", name="Leave without starting the job?")
    asked.get_by_role("button", name="Stay").click()
    expect(page.get_by_text("rows.csv")).to_be_visible()
    page.get_by_role("link", name="Dead letters").click()
    asked.get_by_role("button", name="Leave").click()
    maker.drawn("Dead letters")


def test_long_column_names_stay_in_their_card(maker: Visitor, tmp_path: Path):
    names = [f"a_very_long_name_without_a_break_{n}_" + "x" * 60 for n in range(60)]
    file = tmp_path / "rows.csv"
    file.write_text(",".join(names) + "\n" + ",".join(["1"] * 60) + "\n")
    choose(maker, file)
    page = maker.page
    page.get_by_text("Rename columns").click()
    expect(page.get_by_text("60 columns: scroll for more.")).to_be_visible()
    wide = page.evaluate(
        """() => {
            const fields = [...document.querySelectorAll("details[open] label")];
            return fields.some((each) => each.scrollWidth > each.clientWidth + 1);
        }"""
    )
    assert wide is False


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
    page.get_by_text("Import settings").click()
    page.get_by_label("Sheet").select_option("Prices")
    rows = page.get_by_role("region", name="First rows")
    expect(rows.get_by_role("columnheader", name="price")).to_be_visible()


def test_a_column_is_mapped_to_what_the_handler_needs(
    maker: Visitor, api: ApiServer, tmp_path: Path
):
    file = tmp_path / "rows.csv"
    file.write_text("thing,other\nriver,1\n")
    choose(maker, file)
    page = maker.page
    page.get_by_label("Handler").select_option("sample.words")
    start = page.get_by_role("button", name="Start job")
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
    page.get_by_role("tab", name="From a URL").click()
    page.get_by_label("URL of the file").fill("file:/etc/passwd")
    page.get_by_role("button", name="Preview rows").click()
    expect(page.get_by_role("alert")).to_contain_text("roots")
    expect(page.get_by_role("button", name="Start job")).to_be_disabled()


def test_a_lost_answer_makes_no_second_job(maker: Visitor, api: ApiServer, tmp_path: Path):
    maker.expects("net::ERR")
    file = tmp_path / "once.csv"
    file.write_bytes(rows_csv(3))
    choose(maker, file)
    page = maker.page
    page.get_by_label("Handler").select_option("shop.price")
    page.get_by_label("Name", exact=True).fill("Only once")
    start = page.get_by_role("button", name="Start job")

    def lose(route) -> None:
        route.fetch()  # the server has it, and its reply is lost
        route.abort()

    page.route("**/api/jobs", lose, times=1)
    start.click()
    expect(page.get_by_role("region", name="Start").get_by_role("alert")).to_contain_text(
        "does not answer"
    )
    start.click()
    expect(page).to_have_url(re.compile(r"/jobs/\d+$"))
    assert len(api.user("maker").pages("/api/jobs", q="Only once")) == 1
