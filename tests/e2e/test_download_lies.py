"""Servers that lie about files: each lie ends as it should, with its reason, and leaves nothing."""

import gzip
from email.utils import formatdate
from pathlib import Path

import pytest

from headgate.core.status import ItemStatus
from headgate.engine.clock import SystemClock
from headgate.handlers.download import fetch
from headgate.net import connections
from tests.kit.answers import Answer, Request, by_path, in_turn, redirect
from tests.kit.downloads import (
    PDF,
    Downloads,
    Ending,
    downloads_in,
    files,
    pdf_of,
    settings_in,
)
from tests.kit.provider import Provider

PAGE = b"<!DOCTYPE html><html><head><title>Access denied</title></head><body>Log in</body></html>"
GOOD = pdf_of(5_000)
ROBOTS = Answer(404)


def serve(provider: Provider, **answers: Answer) -> None:
    """Files by name; the underscore in a name is its dot."""
    files(provider, {f"/{name.replace('_', '.')}": in_turn(each) for name, each in answers.items()})


async def fetch_one(
    download: Downloads, provider: Provider, answer: Answer, **config: int
) -> Ending:
    """What becomes of /paper.pdf if it is answered so; whatever happens, a good file is kept."""
    serve(provider, paper_pdf=answer, good_pdf=Answer(200, PDF, GOOD))
    endings = await download([provider.url("/paper.pdf"), provider.url("/good.pdf")], **config)
    assert endings[1].status is ItemStatus.DONE
    assert download.shown()["good.pdf"] == GOOD
    return endings[0]


def assert_nothing_kept(download: Downloads) -> None:
    assert [*download.shown()] == ["good.pdf"]
    assert download.left() == []


@pytest.mark.parametrize(
    ("status", "ending", "attempts"),
    [
        (404, ItemStatus.NOT_FOUND, 1),
        (410, ItemStatus.NOT_FOUND, 1),
        (500, ItemStatus.ERROR, 3),
        (403, ItemStatus.ERROR, 1),
        (204, ItemStatus.ERROR, 1),
    ],
)
async def test_a_pdf_with_a_bad_status_is_not_a_file(
    download: Downloads, provider: Provider, status: int, ending: ItemStatus, attempts: int
):
    found = await fetch_one(download, provider, Answer(status, PDF, GOOD))
    assert (found.status, found.code, found.attempts) == (ending, f"http-{status}", attempts)
    assert found.result["url"] == provider.url("/paper.pdf")
    assert_nothing_kept(download)


CUT_PDF = GOOD[:-20]
CHUNKED = [("Content-Type", "application/pdf"), ("Transfer-Encoding", "chunked")]


def in_chunks(body: bytes) -> bytes:
    pieces = (body[at : at + 1_000] for at in range(0, len(body), 1_000))
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


LIES = {
    "a page in place of a file": (Answer(200, PDF, PAGE), "html-instead", 1),
    "a page that says so": (
        Answer(200, [("Content-Type", "text/html")], PAGE),
        "html-instead",
        1,
    ),
    "another type": (Answer(200, PDF, b"PK\3\4" + b"x" * 5_000), "wrong-type", 1),
    "nothing": (Answer(200, PDF, b""), "empty-body", 1),
    "next to nothing": (Answer(200, PDF, pdf_of(500)), "too-small", 1),
    "a pdf without its end": (Answer(200, PDF, CUT_PDF), "pdf-without-end", 1),
    "less than its length says": (
        Answer(200, [*PDF, ("Content-Length", "5000")], GOOD, cut_at=3_000),
        "cut",
        3,
    ),
    "chunks that break off": (Answer(200, CHUNKED, in_chunks(GOOD), cut_at=2_500), "cut", 3),
    "a claim of ten gigabytes": (
        Answer(200, [*PDF, ("Content-Length", str(10**10))], GOOD),
        "too-large",
        1,
    ),
    "a bomb": (
        Answer(
            200,
            [*PDF, ("Content-Encoding", "gzip")],
            gzip.compress(b"%PDF-1.7\n" + bytes(40_000_000)),
        ),
        "decompression-bomb",
        1,
    ),
}


@pytest.mark.parametrize("lie", LIES)
async def test_a_false_file_has_a_reason_and_is_not_kept(
    download: Downloads, provider: Provider, lie: str
):
    answer, reason, attempts = LIES[lie]
    found = await fetch_one(download, provider, answer)
    assert (found.status, found.code, found.attempts) == (ItemStatus.ERROR, reason, attempts)
    assert_nothing_kept(download)


async def test_more_than_its_length_says_is_not_a_file(download: Downloads, provider: Provider):
    found = await fetch_one(
        download, provider, Answer(200, [*PDF, ("Content-Length", "4000")], GOOD)
    )
    # The rest may come with the file, as what should be the next answer, or a moment later.
    assert found.status is ItemStatus.ERROR
    assert found.code in {"protocol", "pdf-without-end"}
    assert_nothing_kept(download)


async def test_a_body_without_end_is_stopped_at_the_largest_size(
    download: Downloads, provider: Provider
):
    endless = Answer(200, CHUNKED, in_chunks(pdf_of(8_000_000)))
    found = await fetch_one(download, provider, endless, max_bytes=200_000)
    assert (found.status, found.code) == (ItemStatus.ERROR, "too-large")
    (seen,) = [seen for seen in provider.seen if seen.request.path == "/paper.pdf"]
    assert not seen.complete
    assert_nothing_kept(download)


async def test_a_body_that_drips_is_abandoned(
    download: Downloads, provider: Provider, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(fetch, "WINDOW_S", 0.2)
    found = await fetch_one(download, provider, Answer(200, PDF, GOOD, drip_s=0.05))
    assert (found.status, found.code, found.attempts) == (ItemStatus.ERROR, "too-slow", 3)
    assert_nothing_kept(download)


async def test_a_server_that_falls_silent_is_abandoned(provider: Provider, tmp_path: Path):
    settings = settings_in(tmp_path)
    async with downloads_in(tmp_path, settings) as download:
        found = await fetch_one(
            download, provider, Answer(200, PDF, GOOD, silent=True), timeout_s=1
        )
        assert (found.status, found.code) == (ItemStatus.ERROR, "timeout")
        assert_nothing_kept(download)


async def test_redirects_that_lead_in_a_circle(download: Downloads, provider: Provider):
    found = await fetch_one(download, provider, redirect("/paper.pdf"))
    assert (found.status, found.code) == (ItemStatus.ERROR, "redirect-loop")


async def test_no_special_address_is_asked_and_none_by_redirect(
    provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async with downloads_in(tmp_path, settings_in(tmp_path, private=False)) as download:
        (found,) = await download([provider.url("/paper.pdf")])
        assert (found.status, found.code) == (ItemStatus.ERROR, "address-refused")
        assert provider.connections == 0
        real = connections.address_refusal
        monkeypatch.setattr(
            connections,
            "address_refusal",
            lambda where: None if where == "127.0.0.1" else real(where),
        )
        serve(provider, paper_pdf=redirect(provider.url("/paper.pdf", host="127.0.0.2")))
        (found,) = await download([provider.url("/paper.pdf")])
        assert (found.status, found.code) == (ItemStatus.ERROR, "address-refused")
        assert found.attempts == 1


async def test_the_cap_holds_at_the_host_behind_a_redirect(download: Downloads, provider: Provider):
    def answer(request: Request) -> Answer:
        if request.path == "/robots.txt":
            return ROBOTS
        if request.host.startswith("localhost"):
            return Answer(200, PDF, pdf_of(1_100, request.path), delay_s=0.5)
        return redirect(provider.url(request.path, host="localhost"))

    provider.script = answer
    endings = await download([provider.url(f"/{number}.pdf") for number in range(16)])
    assert {found.status for found in endings} == {ItemStatus.DONE}
    assert endings[0].result["final_url"] == provider.url("/0.pdf", host="localhost")
    assert provider.overlap(f"localhost:{provider.port}") == 4
    assert provider.overlap(f"127.0.0.1:{provider.port}") <= 4


async def test_a_url_that_robots_txt_forbids_is_an_error_and_not_requested(
    download: Downloads, provider: Provider
):
    rules = Answer(200, body=b"User-agent: *\nDisallow: /private/\n")
    files = {"/robots.txt": in_turn(rules), "/open.pdf": in_turn(Answer(200, PDF, GOOD))}
    provider.script = by_path(files)
    barred, kept = await download([provider.url("/private/a.pdf"), provider.url("/open.pdf")])
    assert (barred.status, barred.code) == (ItemStatus.ERROR, "robots")
    assert kept.status is ItemStatus.DONE
    assert {seen.request.path for seen in provider.seen} == {"/robots.txt", "/open.pdf"}


async def test_a_wrong_checksum_is_found_and_a_right_one_kept(
    download: Downloads, provider: Provider
):
    serve(provider, a_pdf=Answer(200, PDF, GOOD))
    url = provider.url("/a.pdf")
    rows = [
        {"url": url, "md5": "0" * 32},
        {"url": url, "sha256": "f" * 64},
        {"url": url, "checksum": "nonsense"},
    ]
    wrong, other, unreadable = await download(rows)
    assert (wrong.status, wrong.code) == (ItemStatus.ERROR, "checksum-mismatch")
    assert (other.status, other.code) == (ItemStatus.ERROR, "checksum-mismatch")
    assert (unreadable.status, unreadable.attempts) == (ItemStatus.ERROR, 1)
    assert "is not a checksum" in unreadable.reason
    assert download.shown() == {}


async def test_only_types_that_are_asked_for_are_kept(download: Downloads, provider: Provider):
    serve(provider, a_pdf=Answer(200, PDF, GOOD), b_html=Answer(200, [], PAGE))
    pdf, page = await download([provider.url("/a.pdf"), provider.url("/b.html")], types=["html"])
    assert (pdf.status, pdf.code) == (ItemStatus.ERROR, "wrong-type")
    assert (page.status, page.result["content_type"]) == (ItemStatus.DONE, "text/html")


async def test_with_the_option_head_a_head_request_comes_first(
    download: Downloads, provider: Provider
):
    serve(
        provider,
        good_pdf=Answer(200, PDF, GOOD),
        large_pdf=Answer(200, [*PDF, ("Content-Length", str(10**10))]),
    )
    urls = [provider.url("/good.pdf"), provider.url("/large.pdf"), provider.url("/gone.pdf")]
    good, large, gone = await download(urls, head=True)
    assert (good.status, gone.status) == (ItemStatus.DONE, ItemStatus.NOT_FOUND)
    assert (large.status, large.code) == (ItemStatus.ERROR, "too-large")
    asked = [(seen.request.method, seen.request.path) for seen in provider.seen]
    assert ("GET", "/good.pdf") in asked
    assert not {("GET", "/large.pdf"), ("GET", "/gone.pdf")} & set(asked)


@pytest.mark.parametrize("told", ["1", "0", "31536000", "a date", "no time at all"])
async def test_a_refusal_costs_no_attempt_whatever_time_it_names(
    download: Downloads, provider: Provider, told: str
):
    if told == "a date":
        told = formatdate(SystemClock().now() / 1e6 + 1.5, usegmt=True)
    refusal = Answer(429, [("Retry-After", told)], b"later")
    files(provider, {"/a.pdf": in_turn(refusal, Answer(200, PDF, GOOD))})
    (found,) = await download([provider.url("/a.pdf")])
    assert (found.status, found.attempts) == (ItemStatus.DONE, 1)
