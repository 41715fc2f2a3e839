"""Downloads through the real engine: plans, fallbacks, names, repetitions and resumption."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from headgate.app.providers import with_presets
from headgate.core.retry import RetryPolicy
from headgate.core.status import ItemStatus
from headgate.handlers.download.resolvers.registry import RESOLVERS
from tests.kit.answers import Answer, Request, by_path, in_turn
from tests.kit.downloads import PDF, Downloads, changed, downloads_in, files, pdf_of, settings_in
from tests.kit.provider import Provider
from tests.kit.resolver_replies import openalex
from tests.kit.resolvers import Case, Services, doi_of

GOOD = pdf_of(5_000)


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
    files_of_all = services.server("files")
    whole = files_of_all.script
    first, second, _ = services.urls(Case.SEVERAL)
    files_of_all.script = lambda request: (
        Answer(404) if first.endswith(request.path) else whole(request)
    )
    try:
        (found,) = await asking([doi_of(Case.SEVERAL)], resolvers=["unpaywall", "crossref"])
    finally:
        files_of_all.script = whole
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


async def test_the_web_archive_is_asked_about_a_dead_link_if_it_is_enabled(
    asking: Downloads, services: Services, provider: Provider
):
    files(provider, {})
    dead = provider.url(f"/{Case.FOUND}.pdf")
    (plain,) = await asking([dead])
    assert (plain.status, plain.code) == (ItemStatus.NOT_FOUND, "http-404")
    (found,) = await asking([dead], resolvers=["direct", "wayback"])
    assert (found.status, found.result["resolver"]) == (ItemStatus.DONE, "wayback")
    assert found.result["tried"][0]["reason"] == "http-404"


async def test_hosts_and_services_get_the_contact_address(asking: Downloads, services: Services):
    before = len(services.server("files").seen)
    await asking([doi_of(Case.FOUND)], resolvers=["unpaywall"], email="ann@example.org")
    requests = [seen.request for seen in services.server("files").seen[before:]]
    (request,) = [request for request in requests if request.path != "/robots.txt"]
    assert request.headers["user-agent"].startswith("headgate/")
    assert request.headers["user-agent"].endswith("(ann@example.org)")
    assert "email=ann%40example.org" in services.server("unpaywall").seen[-1].request.target


@pytest.mark.parametrize(("cap", "most"), [(None, 4), (2, 2)])
async def test_a_resolver_may_be_capped_wherever_its_files_are(
    tmp_path: Path, services: Services, provider: Provider, cap: int | None, most: int
):
    def name_a_file(request: Request) -> Answer:
        number = request.path.rpartition("/")[2]
        work = openalex(f"10.5555/{number}", [provider.url(f"/{number}.pdf")])
        return Answer(200, body=json.dumps(work).encode())

    def give_it(request: Request) -> Answer:
        if request.path == "/robots.txt":
            return Answer(404)
        return Answer(200, PDF, pdf_of(1_200, request.path), delay_s=0.4)

    provider.script = give_it
    files = [("providers.files.retry.retries", 0)]
    files += [("providers.openalex.concurrency", cap)] if cap else []
    settings = changed(
        settings_in(tmp_path), download=services.policy(), providers=with_presets(files)
    )
    service = services.server("openalex")
    usual, service.script = service.script, name_a_file
    try:
        async with downloads_in(tmp_path, settings) as download:
            dois = [f"10.5555/{number}" for number in range(10)]
            endings = await download(dois, resolvers=["openalex"])
    finally:
        service.script = usual
    assert {found.status for found in endings} == {ItemStatus.DONE}
    assert provider.overlap(f"127.0.0.1:{provider.port}") == most


async def test_a_row_that_names_nothing_is_an_error_with_advice(download: Downloads):
    nothing, rubbish = await download([{"title": "On nothing"}, {"doi": "n/a"}])
    assert {nothing.status, rubbish.status} == {ItemStatus.ERROR}
    assert "the row has nothing in any of doi" in nothing.reason
    assert "is neither a DOI" in rubbish.reason
    assert {nothing.code, rubbish.code} == {"bad-identifier"}


# ---- names and contents ------------------------------------------------------------------------


async def test_files_of_one_name_stay_apart_and_one_content_is_stored_once(
    download: Downloads, provider: Provider
):
    bodies = {"/a/full.pdf": pdf_of(2_000, "a"), "/b/full.pdf": pdf_of(2_000, "b")}
    bodies["/c/other.pdf"] = bodies["/a/full.pdf"]
    files(provider, {path: in_turn(Answer(200, PDF, body)) for path, body in bodies.items()})
    endings = await download([provider.url(path) for path in bodies])
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
    download: Downloads, provider: Provider, path: str, disposition: str, name: str | None
):
    told = [("Content-Disposition", disposition.encode().decode("latin-1"))] if disposition else []
    answer = Answer(200, [*PDF, *told], GOOD)
    provider.script = by_path({"/robots.txt": in_turn(Answer(404))}, otherwise=in_turn(answer))
    (found,) = await download([provider.url(path)])
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
