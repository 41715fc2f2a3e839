"""When a run resumes a job: options, moved files, job numbers and concurrent commands."""

import contextlib
import datetime as dt
import gzip
import json
from pathlib import Path

import openpyxl
import pytest

from headgate.app.cli import app
from tests.kit.cli import Cli, Said

pytestmark = pytest.mark.slow

LOOKUP = """
import os, pathlib
from headgate import handler

@handler("price.lookup", version=os.environ.get("PRICE_VERSION", ""))
async def price(item, ctx):
    log = pathlib.Path(__file__).parent / "executions.log"
    with log.open("a") as file:
        file.write(item.key + "\\n")
    return {"region": ctx.job.config.get("region"), "seen": sorted(item.input)}

async def other(item, ctx):
    return {"other": True}
"""
ROWS = "sku;name\nA-1;äpfel\nB-2;banana\nC-3;cherry\n"


class Project(Cli):
    """Runs short commands in this process too, with the real standard output and error."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        super().__init__(folder)
        self.capture = capture


@pytest.fixture
def cli(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Project:
    folder = tmp_path / "project"
    folder.mkdir()
    cli = Project(folder, capfd)
    cli.write("lookup.py", LOOKUP)
    cli.write("products.csv", ROWS)
    return cli


def quick(cli: Project, *words: str) -> Said:
    """A command in this process, where the process is not the point."""
    cli.capture.readouterr()
    with contextlib.chdir(cli.folder), pytest.raises(SystemExit) as ended:
        app(list(words))
    said = cli.capture.readouterr()
    return Said(int(ended.value.code or 0), said.out, said.err)


def executions(cli: Project) -> list[str]:
    log = cli.folder / "executions.log"
    return log.read_text().split() if log.exists() else []


def jobs(cli: Project) -> list[dict]:
    return quick(cli, "jobs", "ls", "--json").json["jobs"]


RUN = ("run", "lookup.py:price", "products.csv")


def test_options_that_decide_the_result_are_part_of_the_job(cli: Project):
    made = quick(cli, *RUN, "--config", "region=eu", "--out", "out.csv")
    assert made.code == 0, made.err
    for words, before, after in [
        (["--config", "region=us"], "with --config region=eu", "has --config region=us"),
        ([], "with --config region=eu", "has no --config region"),
        (["--config", '{"region":"eu","n":1}'], "without --config n", "has --config n=1"),
        (["--encoding", "latin-1"], "without --encoding", "has --encoding latin-1"),
        (["--delimiter", ","], "without --delimiter", "has --delimiter ,"),
        (["--format", "list"], "without --format", "has --format list"),
        (["--on-bad-row", "skip"], "with --on-bad-row item-error", "has --on-bad-row skip"),
        (["--key", "sku"], "without --key", "has --key sku"),
    ]:
        given = words if not words or "region" in words[-1] else ["--config", "region=eu", *words]
        said = quick(cli, *RUN, *given)
        assert said.code == 2, (words, said.err)
        assert f"job 1 was made {before}, and this command {after}" in said.err, (words, said.err)
        assert "`--new` starts another job" in said.err
    same = ["--delimiter", ";", "--encoding", "utf8", "--format", "csv"]
    again = quick(cli, *RUN, "--config", "region=eu", *same, "--concurrency", "3", "--name", "x")
    assert (again.code, "resuming job 1" in again.err) == (0, True), again.err
    new = quick(cli, *RUN, "--config", "region=us", "--new", "--out", "us.csv")
    assert (new.code, len(executions(cli))) == (0, 6)
    back = quick(cli, *RUN, "--config", "region=eu")
    assert ("resuming job 1" in back.err, len(executions(cli))) == (True, 6), back.err


def test_a_job_without_options_differs_from_one_with_them(cli: Project):
    assert quick(cli, *RUN, "--delimiter", ";").code == 0
    said = quick(cli, *RUN, "--config", "region=us")
    assert "made without --config region, and this command has --config region=us" in said.err
    assert quick(cli, *RUN).code == 0


def test_a_new_version_of_the_handler_is_refused_until_it_is_taken_on(
    cli: Project, monkeypatch: pytest.MonkeyPatch
):
    """The first version stays loaded in this process, so the second one is met by others."""
    monkeypatch.setenv("PRICE_VERSION", "1")
    assert quick(cli, *RUN).code == 0
    cli.environment["PRICE_VERSION"] = "2"
    said = cli(*RUN)
    assert said.code == 2
    assert "version 1 of its handler, which has version 2 now" in said.err
    assert "headgate jobs rebind 1" in said.err
    assert cli("jobs", "rebind", "1", "lookup.py:price").code == 0
    assert cli(*RUN).code == 0


def test_the_sheet_of_a_workbook_is_part_of_the_job(cli: Project):
    book = openpyxl.Workbook()
    book.active.title = "Data"
    book.active.append(["sku"])
    book.active.append(["A"])
    second = book.create_sheet("Second")
    second.append(["sku"])
    second.append(["B"])
    book.save(cli.folder / "in.xlsx")
    run = ("run", "lookup.py:price", "in.xlsx")
    assert quick(cli, *run).code == 0
    other = quick(cli, *run, "--sheet", "Second")
    assert (
        other.code,
        "made without --sheet, and this command has --sheet Second" in other.err,
    ) == (
        2,
        True,
    )
    absent = quick(cli, *run, "--sheet", "Absent")
    assert (absent.code, "the workbook has no sheet 'Absent'" in absent.err) == (2, True)
    assert quick(cli, *run, "--sheet", "Data").code == 0
    assert executions(cli) == ["1"]


def test_a_download_with_other_read_options_is_refused(cli: Project):
    cli.write("urls.csv", "url,note\nhttp://127.0.0.1:9/a,x\n")
    run = ("download", "urls.csv", "--out", "files", "--max-stall", "0.1")
    quick(cli, *run)
    said = quick(cli, *run, "--encoding", "latin-1")
    assert (said.code, "without --encoding" in said.err) == (2, True), said.err


def test_several_concurrent_commands_create_one_job(cli: Project):
    running = [cli.start(*RUN) for _ in range(4)]
    ends = [(process.communicate(timeout=50), process.returncode) for process in running]
    assert [code for _, code in ends] == [0] * 4, ends
    assert len(jobs(cli)) == 1
    assert sorted(executions(cli)) == ["1", "2", "3"]


@pytest.mark.parametrize("spelling", ["plain", "dots", "link", "hard link", "record"])
def test_the_output_is_never_the_input(cli: Project, spelling: str):
    (cli.folder / "link.csv").symlink_to("products.csv")
    (cli.folder / "hard.csv").hardlink_to(cli.folder / "products.csv")
    out = {
        "plain": "products.csv",
        "dots": "../project/./products.csv",
        "link": "link.csv",
        "hard link": "hard.csv",
        "record": "products",
    }[spelling]
    file = "products.csv"
    if spelling == "record":
        file = "products.meta.json"
        (cli.folder / "products.csv").rename(cli.folder / file)
    words = ["--format", "csv", "--out-format", "csv"] if spelling == "record" else []
    said = quick(cli, "run", "lookup.py:price", file, "--out", out, *words)
    assert (said.code, "would replace" in said.err) == (2, True), said.err
    assert (cli.folder / file).read_text("utf-8") == ROWS
    assert executions(cli) == []


def test_the_output_is_looked_at_before_any_row_is_run(cli: Project):
    (cli.folder / "folder.csv").mkdir()
    (cli.folder / "file").touch()
    for out, message in [
        ("absent/deep/out.csv", "the folder absent/deep does not exist"),
        ("file/out.csv", "file is not a folder; choose another"),
        ("folder.csv", "is a folder: name a file in it"),
        ("out.doc", "its name should end in .csv, .tsv, .tab, .jsonl, .ndjson, .xlsx, .xlsm,"),
        ("out.png", "cannot write images; it writes csv"),
        ("out.xlsx.gz", "only csv, jsonl and tsv can be written as .gz files"),
    ]:
        said = quick(cli, *RUN, "--out", out)
        assert (said.code, message in said.err) == (2, True), said.err
    assert ".png" not in quick(cli, *RUN, "--out", "out.doc").err
    assert executions(cli) == []
    assert not list(cli.folder.glob(".*.part"))


def test_results_are_safe_in_the_store_if_the_output_cannot_be_written(cli: Project):
    (cli.folder / "out").mkdir()
    cli.write(
        "gone.py",
        "import pathlib, shutil\n"
        "def away(item, ctx):\n"
        "    shutil.rmtree(pathlib.Path(__file__).with_name('out'), ignore_errors=True)\n"
        "    return {'a': 1}\n",
    )
    said = quick(cli, "run", "gone.py:away", "products.csv", "--out", "out/priced.csv")
    assert said.code == 2
    assert "The results are safe in the store: `headgate export 1 FILE` writes them" in said.err
    assert quick(cli, "export", "1", "priced.csv").code == 0
    assert (cli.folder / "priced.csv").read_text("utf-8").count("DONE") == 3


def test_an_export_does_not_replace_the_source(cli: Project):
    assert quick(cli, *RUN).code == 0
    said = quick(cli, "export", "1", "products.csv")
    assert (said.code, "would replace" in said.err) == (2, True)


def half_done(cli: Project) -> None:
    """A job with one row done and two left."""
    assert quick(cli, *RUN).code == 0
    assert quick(cli, "jobs", "reprocess", "1", "--status", "DONE", "--ids", "2,3").code == 0
    (cli.folder / "executions.log").unlink()


def moved(cli: Project) -> Project:
    folder = cli.folder.with_name("renamed")
    cli.folder.rename(folder)
    return Project(folder, cli.capture)


def test_a_moved_project_continues(cli: Project):
    half_done(cli)
    there = moved(cli)
    said = quick(there, *RUN, "--out", "out.csv")
    assert said.code == 0, said.err
    assert f"job 1 was created from {cli.folder / 'products.csv'}, which was moved here" in said.err
    assert [job["id"] for job in jobs(there)] == [1]
    assert (there.folder / "out.csv").read_text("utf-8").count("DONE") == 3
    assert "resuming job 1" in quick(there, *RUN).err


def test_the_message_about_a_missing_handler_is_true(cli: Project):
    half_done(cli)
    (cli.folder / "lookup.py").rename(cli.folder / "pricing.py")
    truth = f"cannot be loaded: the file {cli.folder / 'lookup.py'} does not exist"
    item = quick(cli, "items", "ls", "1", "--status", "PENDING,PROCESSING", "--json").json["items"]
    why = quick(cli, "items", "why", str(item[-1]["id"]))
    assert truth in why.out
    show = quick(cli, "jobs", "show", "1")
    assert truth in show.out
    assert "headgate jobs rebind 1" in show.out
    assert "headgate worker --jobs 1" not in show.out
    for words in (["worker", "--jobs", "1", "--drain"], ["run", "--job", "1"]):
        said = quick(cli, *words)
        assert (said.code, truth in said.err) == (2, True), said.err
    drained = quick(cli, "worker", "--drain")
    assert (drained.code, truth in drained.err) == (0, True), drained.err


def test_a_job_continues_by_its_number_and_with_its_handler_elsewhere(cli: Project):
    half_done(cli)
    (cli.folder / "lookup.py").rename(cli.folder / "pricing.py")
    (cli.folder / "products.csv").unlink()
    said = quick(cli, "run", "--job", "1", "pricing.py:price", "--out", "out.csv")
    assert said.code == 0, said.err
    assert sorted(executions(cli)) == ["2", "3"]
    assert quick(cli, "run", "--job", "1").code == 0
    for words, message in [
        (["--job", "1", "--new"], "--job resumes a job and --new starts another"),
        (["--job", "1", "--config", "region=us"], "without --config region"),
        (["--job", "1", "--key", "sku"], "without --key"),
        (["--job", "9"], "job 9 does not exist"),
        ([], "name a handler and a file"),
    ]:
        refused = quick(cli, "run", *words)
        assert (refused.code, message in refused.err) == (2, True), refused.err


def test_a_separate_command_gives_a_job_another_handler(cli: Project):
    half_done(cli)
    said = quick(cli, "jobs", "rebind", "1", "lookup.py:other")
    assert (said.code, "continue with: headgate worker --jobs 1 --drain" in said.err) == (0, True)
    assert quick(cli, "worker", "--jobs", "1", "--drain").code == 0
    results = [row["result"] for row in quick(cli, "items", "ls", "1", "--json").json["items"]]
    assert {"other": True} in results
    assert quick(cli, "jobs", "rebind", "1", "lookup.py:absent").code == 2


def test_duplicates_stand_where_they_stood(cli: Project):
    skus = ["A", "B", "A", "C", "B", "D"]
    cli.write("twice.csv", "sku\n" + "".join(f"{sku}\n" for sku in skus))
    said = quick(cli, "run", "lookup.py:price", "twice.csv", "--key", "sku", "--out", "out.jsonl")
    assert said.code == 3
    rows = [json.loads(line) for line in (cli.folder / "out.jsonl").read_text().splitlines()]
    assert [row["sku"] for row in rows] == skus
    assert [row["_status"] for row in rows] == ["DONE", "DONE", "ERROR", "DONE", "ERROR", "DONE"]


def test_a_corrected_row_leaves_no_error_behind(cli: Project):
    cli.write("rows.csv", "sku,n\nA,1\nB,2,extra\nC,3\n")
    run = ("run", "lookup.py:price", "rows.csv", "--key", "sku", "--out", "out.jsonl")
    bad = quick(cli, *run)
    assert bad.code == 3
    assert "1 row is bad: fix the file, then run the same command\n" in bad.err
    cli.write("rows.csv", "sku,n\nA,1\nB,2\nC,3\n")
    said = quick(cli, *run)
    assert (said.code, "1 bad row was corrected" in said.err) == (0, True), said.err
    rows = [json.loads(line) for line in (cli.folder / "out.jsonl").read_text().splitlines()]
    assert sorted(row["sku"] for row in rows) == ["A", "B", "C"]
    assert {row["_status"] for row in rows} == {"DONE"}


def test_a_file_that_cannot_be_read_as_asked_leaves_no_job(cli: Project):
    cli.write("bad.csv", "sku,name\nA,ä\nB,2,3\n")
    for words in [
        ["--key", "absent"],
        ["--encoding", "no-such-encoding"],
        ["--on-bad-row", "fail", "--delimiter", ","],
        ["--on-bad-row", "fail", "--encoding", "ascii"],
        ["--eager", "--key", "absent"],
    ]:
        said = quick(cli, "run", "lookup.py:price", "bad.csv", *words)
        assert (said.code, jobs(cli)) == (2, []), (words, said.err)
    assert quick(cli, "run", "lookup.py:price", "bad.csv").code == 3


TEXT = "sku;name\nA-1;Äpfel\nB-2;Müsli\nC-3;corn\n"


@pytest.mark.parametrize(
    ("file", "content", "fits"),
    [
        (
            "products.csv",
            TEXT.encode("cp1252"),
            "it looks like Windows-1252: add --encoding cp1252;",
        ),
        ("p.csv", TEXT.replace("sku", "größe").encode("cp1252"), "add --encoding cp1252;"),
        ("p.csv.gz", gzip.compress(TEXT.encode("cp1252"), mtime=0), "add --encoding cp1252;"),
        ("p.jsonl", '{"sku": "Äpfel"}\n'.encode("latin-1"), "add --encoding cp1252;"),
        ("p.csv", b"sku\n\xff\xe1\xeb\xee\xea\xee\n", "state its encoding with --encoding"),
    ],
)
def test_a_file_in_another_encoding_is_refused_before_the_first_row(
    cli: Project, file: str, content: bytes, fits: str
):
    (cli.folder / file).write_bytes(content)
    said = quick(cli, "run", "lookup.py:other", file)
    assert (said.code, f"{file} is not UTF-8" in said.err, fits in said.err) == (2, True, True), (
        said
    )
    assert "--encoding utf-8 keeps the rows that cannot be read as errors" in said.err
    assert jobs(cli) == []


def test_a_file_in_another_encoding_is_read_as_it_is_stated(cli: Project):
    (cli.folder / "products.csv").write_bytes(TEXT.encode("cp1252"))
    kept = quick(cli, *RUN, "--encoding", "utf-8")
    assert (kept.code, executions(cli)) == (3, ["3"]), kept.err
    again = quick(cli, *RUN)
    assert "resuming job 1: 3 rows are already finished" in again.err
    assert quick(cli, *RUN, "--encoding", "cp1252", "--new").code == 0


def test_utf_8_with_a_damaged_row_is_run(cli: Project):
    damaged = "sku,name\nA,Äpfel\nB,Müsli\nC,".encode() + b"\xff\n"
    (cli.folder / "damaged.csv").write_bytes(damaged)
    said = quick(cli, "run", "lookup.py:other", "damaged.csv", "--out", "out.csv")
    assert said.code == 3, said.err
    assert (cli.folder / "out.csv").read_text("utf-8").count("DONE") == 2


def test_standard_input_and_output_and_packed_files(cli: Project):
    first = cli("run", "lookup.py:price", "-", "--out", "-", stdin=ROWS)
    assert first.code == 0, first.err
    lines = first.out.splitlines()
    assert (lines[0].split(",")[:2], len(lines)) == (["sku", "name"], 4)
    again = cli("run", "lookup.py:price", "-", "--out", "-", stdin=ROWS)
    assert ("resuming job 1" in again.err, again.out) == (True, first.out)
    other = cli("run", "lookup.py:price", "-", "--out", "-", stdin='{"sku":"Z"}\n')
    assert (json.loads(other.out)["sku"], len(jobs(cli))) == ("Z", 2)
    (cli.folder / "products.csv.gz").write_bytes(gzip.compress(ROWS.encode()))
    packed = quick(cli, "run", "lookup.py:price", "products.csv.gz", "--out", "out.csv.gz")
    assert packed.code == 0, packed.err
    assert gzip.decompress((cli.folder / "out.csv.gz").read_bytes()).decode() == first.out
    assert quick(cli, "export", "3", "--check", "out.csv.gz").code == 0
    both = quick(cli, *RUN, "--out", "-", "--json")
    assert (both.code, "standard output" in both.err) == (2, True)
    exported = quick(cli, "export", "1", "-", "--format", "jsonl")
    assert [json.loads(line)["sku"] for line in exported.out.splitlines()] == ["A-1", "B-2", "C-3"]
    assert not (cli.folder / "-").exists()


def test_cells_that_were_changed_are_counted(cli: Project):
    cli.write("phones.csv", "phone,note\n+49 30 123,-n/a\n-5,@home\n=1,x\n")
    run = ("run", "lookup.py:other", "phones.csv")
    said = quick(cli, *run, "--out", "out.csv")
    assert "4 cells look like a formula and got an apostrophe" in said.err
    assert "`--formulas raw`" in said.err
    raw = quick(cli, *run, "--out", "raw.csv", "--formulas", "raw")
    assert "apostrophe" not in raw.err
    assert (cli.folder / "raw.csv").read_text().splitlines()[1].startswith("+49 30 123,-n/a,")
    assert quick(cli, "export", "1", "two.csv").err.count("4 cells") == 1
    assert json.loads((cli.folder / "two.csv.meta.json").read_text())["notes"]


def test_the_form_of_a_written_table_can_be_chosen(cli: Project):
    words = ("--out-delimiter", ";", "--out-encoding", "utf-8-sig")
    assert (
        quick(cli, "run", "lookup.py:other", "products.csv", "--out", "out.csv", *words).code == 0
    )
    data = (cli.folder / "out.csv").read_bytes()
    assert data.startswith("\ufeffsku;name;other;_status;_error\nA-1;äpfel;".encode())
    said = quick(cli, "export", "1", "latin.csv", "--out-encoding", "ascii")
    assert "1 character is not known to ascii and written as `?`" in said.err
    assert b"?pfel" in (cli.folder / "latin.csv").read_bytes()
    for name, message in [("x.jsonl", "--out-delimiter is for CSV"), ("x.xlsx", "is for CSV")]:
        refused = quick(cli, "export", "1", name, "--out-delimiter", ";")
        assert (refused.code, message in refused.err) == (2, True)
    assert (
        "not the name of a text encoding"
        in quick(cli, "export", "1", "x.csv", "--out-encoding", "utf-9").err
    )


def test_days_of_a_workbook_come_out_as_days(cli: Project):
    cli.write("days.csv", "day\n2024-02-29\n2023-01-01\n")
    assert quick(cli, "run", "lookup.py:other", "days.csv", "--out", "out.xlsx").code == 0
    cells = [row[0] for row in openpyxl.load_workbook(cli.folder / "out.xlsx").active.iter_rows()]
    assert [cell.number_format for cell in cells[1:]] == ["yyyy-mm-dd"] * 2
    assert cells[1].value == dt.datetime(2024, 2, 29)  # noqa: DTZ001 (a sheet knows no zones)


def test_the_usual_mistakes_are_recognised(cli: Project):
    swapped = quick(cli, "run", "products.csv", "lookup.py:price")
    assert "the handler comes first, then the file: headgate run lookup.py:price" in swapped.err
    settings = quick(cli, *RUN, "-c", "region=eu")
    assert "-c is for the settings file: use --config region=eu to configure" in settings.err
    assert (swapped.code, settings.code) == (2, 2)


def test_a_queue_shows_what_identifies_its_items(cli: Project):
    feed = ("queue", "enqueue", '{"sku": "A", "n": 1}')
    assert quick(cli, *feed, "--handler", "lookup.py:price", "--key", "sku").code == 0
    lines = quick(cli, "jobs", "show", "1").out.splitlines()
    assert [line.split() for line in lines if line.split()[:1] == ["key"]] == [["key", "sku"]]
    again = quick(cli, "queue", "enqueue", '{"sku": "A", "n": 2}')
    assert "1 was already there" in again.out
    refused = quick(cli, *feed, "--key", "n")
    assert (refused.code, "items by sku, but this command has --key n" in refused.err) == (2, True)
    assert quick(cli, *feed, "--queue", "q", "--handler", "lookup.py:price").code == 0
    assert "the whole content of an item" in quick(cli, "jobs", "show", "2").out
