"""Repeated downloads: unchanged files, interrupted files, and folders that cannot be written."""

from pathlib import Path

import pytest

from headgate.core.status import ItemStatus, JobMove, JobState
from tests.kit.answers import Answer, Request, Script, in_turn, tagged
from tests.kit.downloads import PDF, Downloads, asked, files, pdf_of
from tests.kit.filesystems import mounted, needs_root, remount
from tests.kit.provider import Provider

GOOD = pdf_of(5_000)


async def test_a_fresh_file_costs_no_request(download: Downloads, provider: Provider):
    fresh = [*PDF, ("Cache-Control", "max-age=600"), ("ETag", '"1"')]
    files(provider, {f"/{n}.pdf": in_turn(Answer(200, fresh, pdf_of(2_000, str(n)))) for n in "ab"})
    first = await download([provider.url("/a.pdf"), provider.url("/b.pdf")])
    second = await download.again()
    assert {found.status for found in first} == {ItemStatus.DONE}
    assert {(found.status, found.code) for found in second} == {(ItemStatus.SKIPPED, "unchanged")}
    for before, after in zip(first, second, strict=True):
        same = ("path", "sha256", "bytes", "content_type", "url", "final_url")
        assert [before.result[name] for name in same] == [after.result[name] for name in same]
    assert {found.result["cache"] for found in second} == {"cached"}
    assert sorted(asked(provider)) == ["/a.pdf", "/b.pdf"]


async def test_a_stale_unchanged_file_costs_a_conditional_request(
    download: Downloads, provider: Provider
):
    files(provider, {"/a.pdf": tagged(GOOD)})
    await download([provider.url("/a.pdf")])
    (found,) = await download.again()
    assert (found.status, found.result["cache"]) == (ItemStatus.SKIPPED, "revalidated")
    assert [seen.status for seen in provider.seen][-1] == 304
    assert download.shown() == {"a.pdf": GOOD}


async def test_a_changed_file_is_downloaded_and_overwrites_nothing(
    download: Downloads, provider: Provider
):
    files(provider, {"/a.pdf": tagged(GOOD)})
    await download([provider.url("/a.pdf")])
    other = pdf_of(6_000, "other")
    files(provider, {"/a.pdf": tagged(other)})
    (found,) = await download.again()
    assert found.status is ItemStatus.DONE
    assert sorted(download.shown().values(), key=len) == [GOOD, other]


@pytest.mark.parametrize("harm", ["removed", "shortened"])
async def test_a_file_that_was_lost_is_fetched_again(
    download: Downloads, provider: Provider, harm: str
):
    files(provider, {"/a.pdf": tagged(GOOD, "max-age=600")})
    await download([provider.url("/a.pdf")])
    if harm == "removed":
        (download.out / "a.pdf").unlink()
    else:
        (download.out / "a.pdf").unlink()
        (download.out / "a.pdf").write_bytes(b"other")
    (found,) = await download.again()
    assert found.status is ItemStatus.DONE
    assert download.shown()[found.path] == GOOD


async def test_the_same_input_twice_is_skipped_and_another_input_is_done(
    download: Downloads, provider: Provider
):
    files(provider, {"/a.pdf": tagged(GOOD, "max-age=600"), "/b.pdf": tagged(GOOD, "max-age=600")})
    url = provider.url("/a.pdf")
    await download([url, url.replace("http", "HTTP"), provider.url("/b.pdf")])
    endings = sorted(await download.endings(), key=lambda found: found.status)
    assert [found.status for found in endings] == [
        ItemStatus.DONE,
        ItemStatus.DONE,
        ItemStatus.SKIPPED,
    ]
    assert len({found.result["sha256"] for found in endings}) == 1
    assert sorted(asked(provider)) == ["/a.pdf", "/b.pdf"]


# ---- resumption --------------------------------------------------------------------------------


LARGE = pdf_of(3_000_000)


def ranged(body: bytes, etag: str, *, cut_at: int | None = None) -> Script:
    """A provider that knows ranges; a whole answer is cut off if told so."""

    def answer(request: Request) -> Answer:
        headers = [*PDF, ("ETag", etag), ("Accept-Ranges", "bytes")]
        wanted = request.headers.get("range", "")
        if wanted and request.headers.get("if-range", etag) == etag:
            start = int(wanted.removeprefix("bytes=").rstrip("-"))
            told = ("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
            return Answer(206, [*headers, told], body[start:])
        return Answer(200, headers, body, cut_at=cut_at)

    return answer


async def test_a_body_that_was_cut_off_is_resumed(download: Downloads, provider: Provider):
    files(provider, {"/a.pdf": ranged(LARGE, '"1"', cut_at=2_000_000)})
    (found,) = await download([provider.url("/a.pdf")])
    assert (found.status, found.attempts) == (ItemStatus.DONE, 2)
    assert download.shown() == {"a.pdf": LARGE}
    assert download.left() == []
    first, second = [seen for seen in provider.seen if seen.request.path == "/a.pdf"]
    assert (first.status, second.status) == (200, 206)
    assert second.request.headers["if-range"] == '"1"'
    assert int(second.request.headers["range"][6:-1]) > 500_000


async def test_a_file_that_changed_meanwhile_is_fetched_whole(
    download: Downloads, provider: Provider
):
    other = pdf_of(3_000_000, "another version")
    before, after = ranged(LARGE, '"1"', cut_at=2_000_000), ranged(other, '"2"')
    turn = iter([before])

    def answer(request: Request) -> Answer:
        return next(turn, after)(request)

    files(provider, {"/a.pdf": answer})
    (found,) = await download([provider.url("/a.pdf")])
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
    download: Downloads, provider: Provider, lie: str
):
    """It says 206 whatever was asked, with bytes of its own choice."""

    def answer(request: Request) -> Answer:
        if "range" not in request.headers:
            first = not any(seen.request.path == "/a.pdf" for seen in provider.seen)
            headers = [*PDF, ("ETag", '"1"')]
            return Answer(200, headers, LARGE, cut_at=2_000_000 if first else None)
        start = request.headers["range"][6:-1]
        told = [(name, text.format(start=start)) for name, text in LIARS[lie]]
        return Answer(206, [*PDF, *told], b"y" * (3_000_000 - int(start)))

    files(provider, {"/a.pdf": answer})
    (found,) = await download([provider.url("/a.pdf")])
    assert found.status is ItemStatus.DONE
    assert download.shown() == {"a.pdf": LARGE}


async def test_a_rest_that_cannot_be_had_is_fetched_whole(download: Downloads, provider: Provider):
    whole = ranged(LARGE, '"1"', cut_at=2_000_000)
    files(
        provider,
        {
            "/a.pdf": lambda request: (
                Answer(416)
                if "range" in request.headers
                else (whole(request) if len(provider.seen) < 2 else Answer(200, PDF, LARGE))
            )
        },
    )
    (found,) = await download([provider.url("/a.pdf")])
    assert (found.status, found.attempts) == (ItemStatus.DONE, 2)
    assert download.shown() == {"a.pdf": LARGE}


# ---- the folder --------------------------------------------------------------------------------


async def test_an_impossible_folder_pauses_the_job(
    download: Downloads, provider: Provider, tmp_path: Path
):
    files(provider, {"/a.pdf": in_turn(Answer(200, PDF, GOOD))})
    (tmp_path / "file").write_bytes(b"in the way")
    download.out = tmp_path / "file"
    endings = await download([provider.url("/a.pdf")] * 5)
    assert {(found.status, found.attempts) for found in endings} == {(ItemStatus.PENDING, 0)}
    job = await download.store.reads.job(download.job.id)
    assert job.state is JobState.PAUSED
    assert str(tmp_path / "file") in (job.pause_reason or "")


async def test_a_path_that_is_too_long_pauses_the_job(download: Downloads, provider: Provider):
    files(provider, {"/a.pdf": in_turn(Answer(200, PDF, GOOD))})
    download.out = download.out.joinpath(*["deep" * 50] * 20)
    (found,) = await download([provider.url("/a.pdf")])
    assert (found.status, found.attempts) == (ItemStatus.PENDING, 0)
    job = await download.store.reads.job(download.job.id)
    assert (job.state, "too long" in (job.pause_reason or "")) == (JobState.PAUSED, True)


@needs_root
@pytest.mark.parametrize("trouble", ["full", "read-only"])
async def test_a_disk_that_takes_no_more_pauses_the_job_and_costs_no_attempt(
    download: Downloads, provider: Provider, tmp_path: Path, trouble: str
):
    bodies = {f"/{number}.pdf": pdf_of(700_000, str(number)) for number in range(8)}
    files(provider, {path: in_turn(Answer(200, PDF, body)) for path, body in bodies.items()})
    size = "size=2m" if trouble == "full" else "size=50m"
    with mounted(tmp_path / "disk", "-t", "tmpfs", "-o", size, "tmpfs") as disk:
        download.out = disk / "out"
        download.out.mkdir()
        if trouble == "read-only":
            remount(disk, "ro")
        endings = await download([provider.url(path) for path in bodies])
        rest = [found for found in endings if found.status is not ItemStatus.DONE]
        assert {(found.status, found.attempts) for found in rest} == {(ItemStatus.PENDING, 0)}
        job = await download.store.reads.job(download.job.id)
        assert job.state is JobState.PAUSED
        assert str(download.out) in (job.pause_reason or "")
        assert set(download.shown().values()) <= set(bodies.values())
        remount(disk, "rw,size=50m")
        await download.store.jobs.move_job(download.job.id, JobMove.RESUME)
        endings = await download.work()
        assert {found.status for found in endings} == {ItemStatus.DONE}
        assert sorted(download.shown().values()) == sorted(bodies.values())
        assert download.left() == []
