"""`headgate download` as a user runs it: lists in, a folder with its records out."""

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from headgate.handlers.download.resolvers.registry import RESOLVERS
from tests.kit.answers import Answer, Request, Script, always, by_path, tagged
from tests.kit.cli import Cli, Said
from tests.kit.command import Ended, until
from tests.kit.project import Project
from tests.kit.provider import Provider
from tests.kit.resolvers import Case, Services, doi_of, pdf

pytestmark = pytest.mark.slow

HTML = b"<!doctype html><html><body>Please sign in</body></html>" * 40


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(
        tmp_path,
        f"sqlite:///{tmp_path}/headgate.db",
        {"net__allow_private": "true", "retry__backoff_base_s": "0.1"},
    )


@pytest.fixture(scope="module")
def services() -> Iterator[Services]:
    with Services() as services:
        yield services


def site(files: dict[str, Script]) -> Script:
    return by_path({"/robots.txt": always(Answer(404)), **files})


def content(name: str) -> bytes:
    """Long enough to be a paper."""
    return pdf(f"the paper that is called {name}")


def paper(name: str) -> Script:
    """A file with an ETag that has to be asked about each time."""
    return tagged(content(name))


def listed(project: Project, lines: list[str], name: str = "urls.txt") -> Path:
    path = project.folder / name
    path.write_text("# a list\n\n" + "".join(f"{line}\n" for line in lines))
    return path


def download(project: Project, file: str | Path, *words: str, out: str = "papers") -> Ended:
    return project.run("download", file, "--out", out, *words)


def manifest(project: Project, out: str = "papers") -> dict[str, dict[str, Any]]:
    lines = (project.folder / out / "manifest.jsonl").read_text().splitlines()
    return {line["id"]: line for line in map(json.loads, lines)}


def steps(project: Project) -> list[dict[str, str]]:
    with (project.folder / "papers" / "attempts.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def asked(provider: Provider) -> list[str]:
    paths = [seen.request.path for seen in provider.seen]
    return [path for path in paths if path != "/robots.txt"]


def files_in(project: Project, out: str = "papers") -> set[str]:
    names = {path.name for path in (project.folder / out).iterdir()}
    return {name for name in names if name[0] != "."} - {"manifest.jsonl", "attempts.csv"}


@pytest.mark.parametrize("dead", ["http://127.0.0.1:1", "http://nowhere.invalid"])
def test_a_host_that_never_answers_ends_its_own_rows_and_holds_up_no_others(
    project: Project, provider: Provider, dead: str
):
    provider.script = site({f"/{n}.pdf": paper(str(n)) for n in range(3)})
    urls = [provider.url(f"/{n}.pdf") for n in range(3)]
    listed(project, [*urls, f"{dead}/1.pdf", f"{dead}/2.pdf"])
    ended = download(project, "urls.txt", "--max-stall", "60")
    assert ended.code == 3, ended.err
    lines = manifest(project)
    assert sorted(line["outcome"] for line in lines.values()) == ["done"] * 3 + ["error"] * 2
    said = project.run("items", "ls", "1", "--status", "ERROR").out
    assert said.count("robots.txt of") == 2
    assert said.count("cannot be read: no connection") + said.count("no address is known") == 2


def test_a_list_becomes_a_folder_with_its_records(project: Project, provider: Provider):
    provider.script = site(
        {"/1.pdf": paper("1"), "/2.pdf": paper("2"), "/page.pdf": always(Answer(200, body=HTML))}
    )
    one, two = provider.url("/1.pdf"), provider.url("/2.pdf")
    again = one.replace("http", "HTTP") + "#page=2"
    urls = [one, two, again, provider.url("/page.pdf"), provider.url("/gone.pdf"), "nonsense"]
    ended = download(project, listed(project, urls), "--json", "--types", "pdf")
    assert ended.code == 3, ended.err
    summary = ended.json
    assert (summary["total"], summary["done"], summary["skipped"]) == (6, 2, 1)
    assert (summary["not_found"], summary["error"], summary["exit"]) == (1, 2, 3)
    assert "1 row asks for the same as an earlier one" in ended.err
    assert f"wrote papers/manifest.jsonl (6 lines; attempts.csv has {len(steps(project))}" in (
        ended.err
    )

    lines = manifest(project)
    assert len(lines) == 6
    first, twin = lines[f"url:{one}"], lines[f"url:{one}#5"]
    assert (first["outcome"], first["resolver"], first["input"]) == ("done", "direct", one)
    assert (twin["outcome"], twin["reason"], twin["input"]) == ("skipped", "duplicate", again)
    assert (twin["path"], twin["sha256"]) == (first["path"], first["sha256"])
    assert lines[f"url:{provider.url('/gone.pdf')}"]["outcome"] == "not_found"
    assert lines[f"url:{provider.url('/page.pdf')}"]["outcome"] == "error"
    assert lines["#8"]["reason"].startswith("bad_row: 'nonsense' is neither")
    assert files_in(project) == {first["path"], lines[f"url:{two}"]["path"]}
    assert asked(provider).count("/1.pdf") == 1

    taken = [step for step in steps(project) if step["id"] == f"url:{one}" and step["bytes"]]
    assert taken[-1]["step"] == "http-200"
    assert int(taken[-1]["bytes"]) == first["bytes"] == len(content("1"))

    report = project.run("download", "report", "1", "--json").json
    direct = next(each for each in report["resolvers"] if each["resolver"] == "direct")
    assert (direct["done"], direct["not_found"], direct["error"]) == (2, 1, 1)
    assert report["traffic"] == report["latest"]
    assert report["hosts"][0]["requests"] == report["traffic"]["requests"]
    checked = project.run("download", "verify", "papers")
    assert (checked.code, checked.out) == (0, "")
    assert "3 entries with" in checked.err


def test_a_second_run_looks_for_changes_and_leaves_the_rest(project: Project, provider: Provider):
    scripts = {f"/{n}.pdf": paper(str(n)) for n in range(3)}
    provider.script = site(scripts)
    file = listed(project, [provider.url(path) for path in scripts])
    assert download(project, file).code == 0
    before = len(provider.seen)
    provider.script = site({**scripts, "/1.pdf": paper("another edition")})
    ended = download(project, file)
    assert ended.code == 0, ended.err
    assert "running all 3 rows again" in ended.err
    outcomes = [line["outcome"] for line in manifest(project).values()]
    assert outcomes == ["skipped", "done", "skipped"]
    assert next(iter(manifest(project).values()))["reason"] == "unchanged"
    fresh = [seen for seen in provider.seen[before:] if seen.request.path != "/robots.txt"]
    assert sorted(seen.status for seen in fresh) == [200, 304, 304]
    report = project.run("download", "report", "1", "--json").json
    assert (report["latest"]["confirmed"], report["traffic"]["confirmed"]) == (2, 2)
    assert report["traffic"]["fetched"] > report["latest"]["fetched"]


def test_records_can_be_written_from_the_store_at_any_time(project: Project, provider: Provider):
    provider.script = site({"/1.pdf": paper("1")})
    file = listed(project, [provider.url("/1.pdf"), provider.url("/gone.pdf")])
    assert download(project, file).code == 0
    records = [project.folder / "papers" / name for name in ("manifest.jsonl", "attempts.csv")]
    before = [path.read_bytes() for path in records]
    records[0].write_text("{broken\n")
    records[1].unlink()
    broken = project.run("download", "verify", "papers", "--json")
    assert (broken.code, broken.json["clean"], broken.json["not_listed"]) == (6, False, 1)
    ended = project.run("download", "report", "1", "--records", "--quiet")
    assert ended.code == 0
    assert [path.read_bytes() for path in records] == before


def test_verify_names_what_is_missing_or_changed(project: Project, provider: Provider):
    scripts = {f"/{n}.pdf": paper(str(n)) for n in range(4)}
    provider.script = site(scripts)
    file = listed(project, [provider.url(path) for path in scripts])
    assert download(project, file).code == 0
    folder = project.folder / "papers"
    paths = [line["path"] for line in manifest(project).values()]
    (folder / paths[0]).unlink()
    for path, damage in ((paths[1], b"x" * len(content("1"))), (paths[2], b"short")):
        (folder / path).unlink()  # the name may share its bytes with a stored copy
        (folder / path).write_bytes(damage)
    (folder / "notes.txt").write_text("mine")
    checked = project.run("download", "verify", "papers", "--json")
    assert checked.code == 6
    found = {each["path"]: each["kind"] for each in checked.json["differences"]}
    assert found == {
        paths[0]: "missing",
        paths[1]: "content",
        paths[2]: "size",
        "notes.txt": "extra",
    }
    words = project.run("download", "verify", "papers")
    assert (words.code, len(words.out.splitlines())) == (6, 4)
    assert "not listed     notes.txt" in words.out

    # Running the download again mends it.
    assert download(project, file).code == 0
    mended = project.run("download", "verify", "papers", "--json")
    assert paths[0] not in {each["path"] for each in mended.json["differences"]}


def test_rows_that_are_added_to_a_list_are_added_to_its_job(project: Project, provider: Provider):
    provider.script = site({"/1.pdf": paper("1"), "/2.pdf": paper("2")})
    file = listed(project, [provider.url("/1.pdf")])
    assert download(project, file).code == 0
    listed(project, [provider.url("/2.pdf"), provider.url("/1.pdf")])
    ended = download(project, file)
    assert ended.code == 0, ended.err
    assert "the file changed: adding its new rows to job 1" in ended.err
    assert {line["outcome"] for line in manifest(project).values()} == {"done", "skipped"}
    # Another folder, or another wish, is another job.
    assert download(project, file, out="elsewhere").code == 0
    assert download(project, file, "--types", "html").code == 3
    assert [job.id for job in project.jobs()] == [3, 2, 1]


def piped(project: Project, text: str, *words: str) -> Said:
    settings = {f"HEADGATE_{name.upper()}": each for name, each in project.settings.items()}
    cli = Cli(project.folder, {"HEADGATE_DATABASE_URL": project.url, **settings})
    return cli("download", "-", "--out", "papers", *words, stdin=text)


def test_standard_input_is_a_list_a_table_or_json(project: Project, provider: Provider):
    provider.script = site({f"/{n}.pdf": paper(str(n)) for n in range(3)})
    urls = [provider.url(f"/{n}.pdf") for n in range(3)]
    assert piped(project, f"{urls[0]}\n").code == 0
    table = piped(project, f"title,url\nOne,{urls[1]}\n", "--json", "--quiet")
    assert (table.code, table.json["job_id"], table.json["total"]) == (0, 1, 2)
    assert table.err == ""
    assert piped(project, json.dumps({"url": urls[2]})).code == 0
    assert set(manifest(project)) == {f"url:{url}" for url in urls}
    assert len(project.jobs()) == 1


def test_an_interrupted_download_keeps_its_records_and_continues(
    project: Project, provider: Provider
):
    slow = {"now": True}

    def file(request: Request) -> Answer:
        return Answer(200, body=content(request.path), drip_s=0.05 if slow["now"] else 0.0)

    quick = {f"/{n}.pdf": paper(str(n)) for n in range(4)}
    provider.script = site({**quick, "/slow.pdf": file})
    urls = [*(provider.url(path) for path in quick), provider.url("/slow.pdf")]
    listed(project, urls)
    with project.start("download", "urls.txt", "--out", "papers") as command:
        until(lambda: len(files_in(project)) == 4 if (project.folder / "papers").exists() else 0)
        until(lambda: provider.under_way() == 1, what="the slow file to be under way")
        until(lambda: project.counts().done == 4, what="the quick files to be settled")
        command.interrupt()
        until(lambda: "running item" in command.talk)
        command.interrupt()
        ended = command.wait()
    assert ended.code == 4, ended.err
    assert "continue with: headgate download urls.txt --out papers" in ended.err
    assert [line["outcome"] for line in manifest(project).values()] == ["done"] * 4
    assert project.run("download", "verify", "papers").code == 0
    slow["now"] = False
    ended = download(project, "urls.txt")
    assert ended.code == 0, ended.err
    assert "resuming job 1: 4 rows are already finished" in ended.err
    assert len(manifest(project)) == 5
    assert asked(provider).count("/0.pdf") == 1


# ---- identifiers and plans ---------------------------------------------------------------------


@pytest.fixture
def asking(project: Project, services: Services) -> Project:
    """A project in which every service is one of ours."""
    sections = [
        f'[download.resolvers.{name}]\nbase_url = "{services.base_url(name)}"\n'
        for name in RESOLVERS
        if name != "direct"
    ]
    (project.folder / "headgate.toml").write_text("\n".join(sections))
    dois = [doi_of(case) for case in (Case.FOUND, Case.SEVERAL, Case.UNKNOWN)]
    (project.folder / "dois.csv").write_text("\n".join(["title,doi", *(f"x,{d}" for d in dois)]))
    return project


ASKED = ("--email", "me@example.org", "--resolvers", "unpaywall,crossref")


def test_a_dry_run_shows_the_plans_and_fetches_nothing(asking: Project, services: Services):
    server = services.server("files")
    before = len(server.seen)
    ended = download(asking, "dois.csv", *ASKED, "--dry-run", "--json")
    assert ended.code == 0, ended.err
    rows = [json.loads(line) for line in ended.out.splitlines()]
    assert [row["id"] for row in rows] == [
        f"doi:{doi_of(case)}" for case in (Case.FOUND, Case.SEVERAL, Case.UNKNOWN)
    ]
    (found,) = services.urls(Case.FOUND)
    assert [(plan["resolver"], plan["url"]) for plan in rows[0]["plans"]] == [("unpaywall", found)]
    assert [plan["url"] for plan in rows[1]["plans"]] == services.urls(Case.SEVERAL)
    assert rows[2]["plans"] == []
    assert {miss["resolver"] for miss in rows[2]["misses"]} == {"unpaywall", "crossref"}
    assert "2 of 3 rows have a place to try; nothing was downloaded" in ended.err
    assert len(server.seen) == before
    assert not (asking.folder / "papers").exists()
    assert asking.jobs() == []


def test_a_resolver_that_is_left_out_is_named_with_what_it_lacks(asking: Project):
    asked = {"direct", "unpaywall", "crossref", "core"}
    off = [f"[download.resolvers.{name}]\nenabled = false" for name in RESOLVERS.keys() - asked]
    settings = (asking.folder / "headgate.toml").read_text()
    kept = [part for part in settings.split("\n\n") if any(f".{name}]" in part for name in asked)]
    (asking.folder / "headgate.toml").write_text("\n\n".join([*kept, *off]))
    ended = download(asking, "dois.csv", "--dry-run")
    assert ended.code == 0, ended.err
    assert "core is not used: it needs a key: set CORE_API_KEY" in ended.err
    assert "unpaywall is not used: it needs an e-mail address: give --email" in ended.err


def test_dois_become_files_by_way_of_services(asking: Project):
    ended = download(asking, "dois.csv", *ASKED)
    assert ended.code == 0, ended.err
    lines = manifest(asking)
    found = lines[f"doi:{doi_of(Case.FOUND)}"]
    assert (found["outcome"], found["resolver"], found["content_type"]) == (
        "done",
        "unpaywall",
        "application/pdf",
    )
    assert lines[f"doi:{doi_of(Case.UNKNOWN)}"]["outcome"] == "not_found"
    resolvers = {step["resolver"] for step in steps(asking) if step["host"]}
    assert resolvers == {"unpaywall", "crossref"}


# ---- what can be wrong -------------------------------------------------------------------------


def test_a_folder_that_cannot_be_used_stops_the_job_and_not_the_items(
    project: Project, provider: Provider
):
    provider.script = site({"/1.pdf": paper("1")})
    file = listed(project, [provider.url("/1.pdf")])
    blocked = project.folder / "papers" / ".headgate-partial"
    blocked.parent.mkdir()
    blocked.write_text("in the way")
    ended = download(project, file)
    assert ended.code == 4, ended.err
    assert "papers cannot be written to: File exists" in ended.err
    assert "continue with: headgate download" in ended.err
    assert project.counts().pending == 1
    blocked.unlink()
    ended = download(project, file)
    assert ended.code == 0, ended.err
    assert "was stopped" in ended.err
    assert [line["outcome"] for line in manifest(project).values()] == ["done"]


def wrong(*words: str) -> Callable[[Project], Ended]:
    return lambda project: project.run("download", *words)


@pytest.mark.parametrize(
    ("act", "problem"),
    [
        (wrong("absent.txt", "--out", "papers"), "absent.txt"),
        (wrong("works.csv", "--out", "papers"), "works.csv has none of the columns doi"),
        (wrong("urls.txt", "--out", "urls.txt"), "--out urls.txt: the folder cannot be created"),
        (wrong("urls.txt", "--out", "p", "--resolvers", "unpaywal"), "did you mean unpaywall?"),
        (wrong("urls.txt", "--out", "p", "--resolvers", "unpaywall"), "give --email"),
        (wrong("urls.txt", "--out", "p", "--types", "pdff"), "unknown type 'pdff'"),
        (wrong("urls.txt", "--out", "p", "--config", "nonsense=1"), "nonsense"),
        (wrong("verify", "absent"), "absent is not a folder"),
        (wrong("verify", "."), "has no manifest.jsonl that can be read"),
    ],
)
def test_an_impossible_download_is_refused_before_anything_is_stored(
    project: Project, act, problem: str
):
    listed(project, ["https://a.example/x.pdf"])
    (project.folder / "works.csv").write_text("title,link\nOn nothing,https://a.example/\n")
    ended = act(project)
    assert (ended.code, ended.out) == (2, ""), ended.err
    assert problem in ended.err
    assert not (project.folder / "headgate.db").exists()
    assert not (project.folder / "p").exists()


def test_a_report_is_about_downloads(project: Project):
    (project.folder / "h.py").write_text("def h(item, ctx):\n    return {}\n")
    listed(project, ["a"])
    assert project.run("run", "h.py:h", "urls.txt").code == 0
    ended = project.run("download", "report", "1")
    assert (ended.code, "job 1 is not a download job" in ended.err) == (2, True)
