"""Downloads through the real engine: plans, fallbacks, names, repetitions and resumption."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from headgate.core.retry import RetryPolicy
from headgate.core.status import ItemStatus, JobState
from headgate.handlers.download.resolvers.registry import RESOLVERS
from tests.kit.answers import Answer, Request, Script, by_path, in_turn, tagged
from tests.kit.downloads import Downloads, changed, downloads_in, pdf_of, settings_in
from tests.kit.provider import Provider
from tests.kit.resolvers import Case, Services, doi_of

PDF = [("Content-Type", "application/pdf")]
GOOD = pdf_of(5_000)


@pytest.fixture
def server() -> Iterator[Provider]:
    with Provider() as provider:
        yield provider


@pytest.fixture
async def download(tmp_path: Path) -> AsyncIterator[Downloads]:
    async with downloads_in(tmp_path) as downloads:
        yield downloads


@pytest.fixture(scope="module")
def services() -> Iterator[Services]:
    with Services() as services:
        yield services


@pytest.fixture
async def asking(tmp_path: Path, services: Services) -> AsyncIterator[Downloads]:
    """Downloads for which every service is one of ours."""
    settings = changed(settings_in(tmp_path), download=services.policy())
    async with downloads_in(tmp_path, settings) as downloads:
        yield downloads


def files(server: Provider, scripts: dict[str, Script]) -> None:
    server.script = by_path({"/robots.txt": in_turn(Answer(404)), **scripts})


def asked(server: Provider) -> list[str]:
    return [seen.request.path for seen in server.seen if seen.request.path != "/robots.txt"]


# ---- plans -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [name for name, each in RESOLVERS.items() if not each.rescue and name != "direct"]
)
async def test_every_resolver_leads_to_a_file(
    asking: Downloads, name: str, monkeypatch: pytest.MonkeyPatch
):
    identifier = "arXiv:2101.00001" if name == "arxiv" else doi_of(Case.FOUND, name)
    asking.environment = {"CORE_API_KEY": "key"}
    monkeypatch.setenv("CORE_API_KEY", "key")
    (found,) = await asking([identifier], resolvers=[name])
    assert (found.status, found.result["resolver"]) == (ItemStatus.DONE, name), found.reason
    content = asking.shown()[found.path]
    assert content.startswith(b"%PDF-")
    assert len(content) == found.result["bytes"]
    assert found.path.endswith(".pdf")


async def test_places_are_tried_in_order_and_what_failed_is_recorded(
    asking: Downloads, services: Services
):
    server = services.server("files")
    whole = server.script
    first, second, _ = services.urls(Case.SEVERAL)
    server.script = lambda request: Answer(404) if first.endswith(request.path) else whole(request)
    try:
        (found,) = await asking([doi_of(Case.SEVERAL)], resolvers=["unpaywall", "crossref"])
    finally:
        server.script = whole
    assert (found.status, found.result["url"]) == (ItemStatus.DONE, second)
    assert found.result["tried"] == [
        {"resolver": "unpaywall", "url": first, "reason": "http-404", "status": 404}
    ]
    assert found.path == f"10.5555_{Case.SEVERAL}.pdf"


async def test_the_next_service_is_asked_when_one_knows_nothing_or_fails(asking: Downloads):
    once = RetryPolicy(max_attempts_error=1)
    asking.settings = changed(asking.settings, retry=once)
    dois = [doi_of(case) for case in (Case.UNKNOWN, Case.NO_FILE, Case.DOWN, Case.BROKEN)]
    endings = await asking(dois, resolvers=["doaj", "hal"])
    assert [found.status for found in endings] == [
        ItemStatus.NOT_FOUND,
        ItemStatus.NOT_FOUND,
        ItemStatus.ERROR,
        ItemStatus.ERROR,
    ]
    assert [found.code for found in endings] == ["unknown", "no-file", "fault", "unreadable"]
    assert endings[0].result["tried"] == [
        {"resolver": "hal", "url": None, "reason": "unknown", "status": None}
    ]


async def test_a_page_is_named_to_the_host_of_the_file_that_it_leads_to(
    asking: Downloads, services: Services
):
    (found,) = await asking([doi_of(Case.FOUND)], resolvers=["landing_page"])
    assert found.status is ItemStatus.DONE
    asked_for = [
        seen.request
        for seen in services.server("files").seen
        if seen.request.headers.get("referer")
    ]
    page = services.server("landing_page").url(f"/article/{Case.FOUND}")
    assert asked_for[-1].headers["referer"] == page


async def test_an_archive_has_what_a_dead_link_once_had_if_it_is_asked(
    asking: Downloads, services: Services, server: Provider
):
    files(server, {})
    dead = server.url(f"/{Case.FOUND}.pdf")
    (plain,) = await asking([dead])
    assert (plain.status, plain.code) == (ItemStatus.NOT_FOUND, "http-404")
    (found,) = await asking([dead], resolvers=["direct", "wayback"])
    assert (found.status, found.result["resolver"]) == (ItemStatus.DONE, "wayback")
    assert found.result["tried"][0]["reason"] == "http-404"


async def test_hosts_and_services_are_told_whom_to_write_to(asking: Downloads, services: Services):
    before = len(services.server("files").seen)
    await asking([doi_of(Case.FOUND)], resolvers=["unpaywall"], email="ann@example.org")
    requests = [seen.request for seen in services.server("files").seen[before:]]
    (request,) = [request for request in requests if request.path != "/robots.txt"]
    assert request.headers["user-agent"].startswith("headgate/")
    assert request.headers["user-agent"].endswith("(ann@example.org)")
    assert "email=ann%40example.org" in services.server("unpaywall").seen[-1].request.target


async def test_a_row_that_names_nothing_is_an_error_with_advice(download: Downloads):
    nothing, rubbish = await download([{"title": "On nothing"}, {"doi": "n/a"}])
    assert {nothing.status, rubbish.status} == {ItemStatus.ERROR}
    assert "the row has nothing in any of doi" in nothing.reason
    assert "is neither a DOI" in rubbish.reason


# ---- names and contents ------------------------------------------------------------------------


async def test_files_of_one_name_stay_apart_and_one_content_is_stored_once(
    download: Downloads, server: Provider
):
    bodies = {"/a/full.pdf": pdf_of(2_000, "a"), "/b/full.pdf": pdf_of(2_000, "b")}
    bodies["/c/other.pdf"] = bodies["/a/full.pdf"]
    files(server, {path: in_turn(Answer(200, PDF, body)) for path, body in bodies.items()})
    endings = await download([server.url(path) for path in bodies])
    assert {found.status for found in endings} == {ItemStatus.DONE}
    shown = download.shown()
    assert [shown[found.path] for found in endings] == [*bodies.values()]
    assert len({found.path for found in endings}) == 3
    assert endings[0].result["sha256"] == endings[2].result["sha256"]
    assert (download.out / endings[0].path).stat().st_ino == (
        download.out / endings[2].path
    ).stat().st_ino


@pytest.mark.parametrize(
    ("path", "disposition", "name"),
    [
        ("/download?id=7", "", "download.pdf"),
        ("/x", 'attachment; filename="Größe.pdf"', "Größe.pdf"),
        ("/x", "attachment; filename*=UTF-8''na%C3%AFve%20plan.pdf", "naïve plan.pdf"),
        ("/x", 'attachment; filename="../../etc/passwd"', "passwd.pdf"),
        ("/%E2%80%AEfdp.exe", "", "fdp.exe.pdf"),
        ("/" + "long" * 200 + ".pdf", "", None),
        ("/", "", None),
    ],
)
async def test_odd_names_become_plain_ones(
    download: Downloads, server: Provider, path: str, disposition: str, name: str | None
):
    told = [("Content-Disposition", disposition.encode().decode("latin-1"))] if disposition else []
    answer = Answer(200, [*PDF, *told], GOOD)
    server.script = by_path({"/robots.txt": in_turn(Answer(404))}, otherwise=in_turn(answer))
    (found,) = await download([server.url(path)])
    assert found.status is ItemStatus.DONE
    assert [*download.shown()] == [found.path]
    assert found.path.endswith(".pdf")
    assert len(found.path.encode()) <= 143
    assert name in {None, found.path}


async def test_works_are_called_by_their_identifiers_or_as_their_servers_do(
    asking: Downloads, services: Services
):
    (found,) = await asking([doi_of(Case.FOUND)], resolvers=["unpaywall"], names="server")
    assert found.path == f"{Case.FOUND}-0.pdf"


# ---- once more ---------------------------------------------------------------------------------


async def test_what_is_there_and_fresh_costs_no_request(download: Downloads, server: Provider):
    fresh = [*PDF, ("Cache-Control", "max-age=600"), ("ETag", '"1"')]
    files(server, {f"/{n}.pdf": in_turn(Answer(200, fresh, pdf_of(2_000, str(n)))) for n in "ab"})
    first = await download([server.url("/a.pdf"), server.url("/b.pdf")])
    second = await download.again()
    assert {found.status for found in first} == {ItemStatus.DONE}
    assert {(found.status, found.code) for found in second} == {(ItemStatus.SKIPPED, "unchanged")}
    for before, after in zip(first, second, strict=True):
        same = ("path", "sha256", "bytes", "content_type", "url", "final_url")
        assert [before.result[name] for name in same] == [after.result[name] for name in same]
    assert {found.result["cache"] for found in second} == {"cached"}
    assert sorted(asked(server)) == ["/a.pdf", "/b.pdf"]


async def test_what_is_stale_and_unchanged_is_confirmed(download: Downloads, server: Provider):
    files(server, {"/a.pdf": tagged(GOOD)})
    await download([server.url("/a.pdf")])
    (found,) = await download.again()
    assert (found.status, found.result["cache"]) == (ItemStatus.SKIPPED, "revalidated")
    assert [seen.status for seen in server.seen][-1] == 304
    assert download.shown() == {"a.pdf": GOOD}


async def test_what_has_changed_is_fetched_and_overwrites_nothing(
    download: Downloads, server: Provider
):
    files(server, {"/a.pdf": tagged(GOOD)})
    await download([server.url("/a.pdf")])
    other = pdf_of(6_000, "other")
    files(server, {"/a.pdf": tagged(other)})
    (found,) = await download.again()
    assert found.status is ItemStatus.DONE
    assert sorted(download.shown().values(), key=len) == [GOOD, other]


@pytest.mark.parametrize("harm", ["removed", "shortened"])
async def test_a_file_that_was_lost_is_fetched_again(
    download: Downloads, server: Provider, harm: str
):
    files(server, {"/a.pdf": tagged(GOOD, "max-age=600")})
    await download([server.url("/a.pdf")])
    if harm == "removed":
        (download.out / "a.pdf").unlink()
    else:
        (download.out / "a.pdf").unlink()
        (download.out / "a.pdf").write_bytes(b"other")
    (found,) = await download.again()
    assert found.status is ItemStatus.DONE
    assert download.shown()[found.path] == GOOD


async def test_the_same_input_twice_is_skipped_and_another_input_is_done(
    download: Downloads, server: Provider
):
    files(server, {"/a.pdf": tagged(GOOD, "max-age=600"), "/b.pdf": tagged(GOOD, "max-age=600")})
    url = server.url("/a.pdf")
    await download([url, url.replace("http", "HTTP"), server.url("/b.pdf")])
    endings = sorted(await download.endings(), key=lambda found: found.status)
    assert [found.status for found in endings] == [
        ItemStatus.DONE,
        ItemStatus.DONE,
        ItemStatus.SKIPPED,
    ]
    assert len({found.result["sha256"] for found in endings}) == 1
    assert sorted(asked(server)) == ["/a.pdf", "/b.pdf"]


# ---- resumption --------------------------------------------------------------------------------


LARGE = pdf_of(3_000_000)


def ranged(body: bytes, etag: str, *, cut_at: int | None = None) -> Script:
    """A server that knows ranges; a whole answer is cut off if told so."""

    def answer(request: Request) -> Answer:
        headers = [*PDF, ("ETag", etag), ("Accept-Ranges", "bytes")]
        wanted = request.headers.get("range", "")
        if wanted and request.headers.get("if-range", etag) == etag:
            start = int(wanted.removeprefix("bytes=").rstrip("-"))
            told = ("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
            return Answer(206, [*headers, told], body[start:])
        return Answer(200, headers, body, cut_at=cut_at)

    return answer


async def test_a_body_that_was_cut_off_is_gone_on_with(download: Downloads, server: Provider):
    files(server, {"/a.pdf": ranged(LARGE, '"1"', cut_at=2_000_000)})
    (found,) = await download([server.url("/a.pdf")])
    assert (found.status, found.attempts) == (ItemStatus.DONE, 2)
    assert download.shown() == {"a.pdf": LARGE}
    assert download.left() == []
    first, second = [seen for seen in server.seen if seen.request.path == "/a.pdf"]
    assert (first.status, second.status) == (200, 206)
    assert second.request.headers["if-range"] == '"1"'
    assert int(second.request.headers["range"][6:-1]) > 500_000


async def test_a_file_that_changed_meanwhile_is_fetched_whole(
    download: Downloads, server: Provider
):
    other = pdf_of(3_000_000, "another version")
    before, after = ranged(LARGE, '"1"', cut_at=2_000_000), ranged(other, '"2"')
    turn = iter([before])

    def answer(request: Request) -> Answer:
        return next(turn, after)(request)

    files(server, {"/a.pdf": answer})
    (found,) = await download([server.url("/a.pdf")])
    assert (found.status, found.attempts) == (ItemStatus.DONE, 2)
    assert download.shown() == {"a.pdf": other}


LIARS = {
    "another version": [("ETag", '"2"'), ("Content-Range", "bytes {start}-2999999/3000000")],
    "another place": [("ETag", '"1"'), ("Content-Range", "bytes 0-2999999/3000000")],
    "no place": [("ETag", '"1"')],
    "no version": [("Content-Range", "bytes {start}-2999999/3000000")],
}


@pytest.mark.parametrize("lie", LIARS)
async def test_a_part_that_is_not_the_rest_is_never_added(
    download: Downloads, server: Provider, lie: str
):
    """It says 206 whatever was asked, with bytes of its own choice."""

    def answer(request: Request) -> Answer:
        if "range" not in request.headers:
            first = not any(seen.request.path == "/a.pdf" for seen in server.seen)
            headers = [*PDF, ("ETag", '"1"')]
            return Answer(200, headers, LARGE, cut_at=2_000_000 if first else None)
        start = request.headers["range"][6:-1]
        told = [(name, text.format(start=start)) for name, text in LIARS[lie]]
        return Answer(206, [*PDF, *told], b"y" * (3_000_000 - int(start)))

    files(server, {"/a.pdf": answer})
    (found,) = await download([server.url("/a.pdf")])
    assert found.status is ItemStatus.DONE
    assert download.shown() == {"a.pdf": LARGE}


async def test_a_rest_that_cannot_be_had_is_fetched_whole(download: Downloads, server: Provider):
    whole = ranged(LARGE, '"1"', cut_at=2_000_000)
    files(
        server,
        {
            "/a.pdf": lambda request: (
                Answer(416)
                if "range" in request.headers
                else (whole(request) if len(server.seen) < 2 else Answer(200, PDF, LARGE))
            )
        },
    )
    (found,) = await download([server.url("/a.pdf")])
    assert (found.status, found.attempts) == (ItemStatus.DONE, 2)
    assert download.shown() == {"a.pdf": LARGE}


# ---- the folder --------------------------------------------------------------------------------


async def test_a_folder_that_cannot_be_makes_the_job_rest(
    download: Downloads, server: Provider, tmp_path: Path
):
    files(server, {"/a.pdf": in_turn(Answer(200, PDF, GOOD))})
    (tmp_path / "file").write_bytes(b"in the way")
    download.out = tmp_path / "file"
    endings = await download([server.url("/a.pdf")] * 5)
    assert {(found.status, found.attempts) for found in endings} == {(ItemStatus.PENDING, 0)}
    job = await download.store.reads.job(download.job.id)
    assert job.state is JobState.PAUSED
    assert str(tmp_path / "file") in (job.pause_reason or "")


async def test_a_path_that_is_too_long_makes_the_job_rest(download: Downloads, server: Provider):
    files(server, {"/a.pdf": in_turn(Answer(200, PDF, GOOD))})
    download.out = download.out.joinpath(*["deep" * 50] * 20)
    (found,) = await download([server.url("/a.pdf")])
    assert (found.status, found.attempts) == (ItemStatus.PENDING, 0)
    job = await download.store.reads.job(download.job.id)
    assert (job.state, "too long" in (job.pause_reason or "")) == (JobState.PAUSED, True)
