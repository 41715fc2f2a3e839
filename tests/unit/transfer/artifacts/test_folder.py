"""Files come into the folder whole, once each, and never over one another."""

import asyncio
import hashlib
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.core.verification import BodyCheck, Expected, Flaw, Unfit
from headgate.ports.artifacts import FileOrigin, FileTrouble, KeptPart
from headgate.transfer.artifacts import partial
from headgate.transfer.artifacts.content_store import STORE
from headgate.transfer.artifacts.draft import SMALL_BYTES
from headgate.transfer.artifacts.folder import ASIDE, ArtifactFolder

ORIGIN = FileOrigin("http://a/paper", '"1"')
SOME = [b"x" * SMALL_BYTES, b"y" * SMALL_BYTES, b"z"]


@pytest.fixture
async def folder(tmp_path):
    async with ArtifactFolder(tmp_path / "out") as folder:
        yield folder


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def anything(digests):
    pass


async def keep(folder, name, *pieces, item=None):
    draft = await folder.begin(item or f"{name} {pieces}")
    draft.start(ORIGIN)
    for piece in pieces:
        await draft.write(piece)
    return await draft.finish(name, anything)


def shown(out):
    return {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}


def hidden(out, name):
    return [path for path in (out / name).rglob("*") if path.is_file()]


async def left(tmp_path, *pieces, origin=ORIGIN):
    async with ArtifactFolder(tmp_path / "out") as folder:
        draft = await folder.begin("paper")
        draft.start(origin)
        for piece in pieces:
            await draft.write(piece)
        await draft.leave()


@pytest.mark.parametrize("pieces", [[b""], [b"a", b"b"], SOME])
async def test_bytes_come_back_under_their_name(folder, out, pieces):
    stored = await keep(folder, "paper.pdf", *pieces)
    content = b"".join(pieces)
    assert shown(out) == {"paper.pdf": content}
    assert (stored.path, stored.size, stored.known) == ("paper.pdf", len(content), False)
    assert stored.sha256 == hashlib.sha256(content).hexdigest()
    assert hidden(out, ASIDE) == []


async def test_very_many_small_pieces_become_one_file(folder, out):
    pieces = [b"%d," % n for n in range(SMALL_BYTES // 3)]
    await keep(folder, "paper.pdf", *pieces)
    assert shown(out) == {"paper.pdf": b"".join(pieces)}


async def test_what_the_disk_takes_in_parts_is_written_to_its_end(folder, out, monkeypatch):
    write = os.write
    monkeypatch.setattr(partial.os, "writev", lambda file, blocks: write(file, blocks[0][:5]))
    monkeypatch.setattr(partial.os, "write", lambda file, rest: write(file, rest[:70_000]))
    await keep(folder, "paper.pdf", *SOME)
    assert shown(out) == {"paper.pdf": b"".join(SOME)}


def test_more_blocks_than_the_system_takes_at_once_are_written_in_turns(tmp_path):
    blocks = [b"%d," % n for n in range(3_000)]
    file = partial.Partial(tmp_path, "item")
    file.append(*blocks)
    assert file.size == file.path.stat().st_size
    assert file.path.read_bytes() == b"".join(blocks)
    file.close()


async def test_two_contents_under_one_name_get_two_names(folder, out):
    first = await keep(folder, "paper.pdf", b"one")
    second = await keep(folder, "paper.pdf", b"two")
    assert first.path == "paper.pdf"
    assert second.path == f"paper-{second.sha256[:8]}.pdf"
    assert shown(out) == {first.path: b"one", second.path: b"two"}


async def test_one_content_under_two_names_lies_there_once(folder, out):
    first, second = await keep(folder, "a.pdf", b"one"), await keep(folder, "b.pdf", b"one")
    assert (first.known, second.known) == (False, True)
    assert (out / "a.pdf").samefile(out / "b.pdf")
    assert len(hidden(out, STORE)) == 1


async def test_the_same_again_gets_the_same_name(folder, out):
    names = [(await keep(folder, "a.pdf", content)).path for content in (b"1", b"2", b"1", b"2")]
    assert names[:2] == names[2:]
    assert len(shown(out)) == 2


async def test_foreign_files_are_not_touched(folder, out):
    (out / "paper.pdf").write_bytes(b"mine")
    (out / f"paper-{hashlib.sha256(b'new').hexdigest()[:8]}.pdf").write_bytes(b"mine too")
    stored = await keep(folder, "paper.pdf", b"new")
    assert stored.path == f"paper-{stored.sha256}.pdf"
    assert sorted(shown(out).values()) == [b"mine", b"mine too", b"new"]


async def test_a_copy_that_is_already_there_is_taken_for_the_file(folder, out):
    (out / "paper.pdf").write_bytes(b"same")
    assert (await keep(folder, "paper.pdf", b"same")).path == "paper.pdf"
    assert shown(out) == {"paper.pdf": b"same"}


async def test_a_link_that_leads_out_of_the_folder_is_not_followed(folder, out, tmp_path):
    (tmp_path / "elsewhere").write_bytes(b"one")
    (out / "paper.pdf").symlink_to(tmp_path / "elsewhere")
    stored = await keep(folder, "paper.pdf", b"two")
    assert stored.path != "paper.pdf"
    assert (tmp_path / "elsewhere").read_bytes() == b"one"


@pytest.mark.parametrize("damage", [b"hell", b"hallo"])
async def test_a_stored_content_that_was_changed_is_replaced(folder, out, damage):
    await keep(folder, "a.pdf", b"hello")
    [content] = hidden(out, STORE)
    content.write_bytes(damage)
    await keep(folder, "b.pdf", b"hello")
    assert shown(out)["b.pdf"] == b"hello"


async def test_many_at_once_all_arrive(folder, out):
    await asyncio.gather(*(keep(folder, f"{n % 50}.pdf", str(n).encode()) for n in range(300)))
    assert sorted(shown(out).values()) == sorted(str(n).encode() for n in range(300))
    assert hidden(out, ASIDE) == []


@pytest.mark.parametrize("pieces", [[b"<html>no</html>"], [*SOME, b"no"]])
async def test_what_is_not_accepted_leaves_no_trace(folder, out, pieces):
    draft = await folder.begin("paper")
    draft.start(ORIGIN)
    inspection = BodyCheck(Expected(length=1))
    for piece in pieces:
        inspection.feed(piece)
        await draft.write(piece)
    with pytest.raises(Unfit) as caught:
        await draft.finish("paper.pdf", inspection.accept)
    assert caught.value.finding.flaw is Flaw.SIZE_MISMATCH
    draft.abandon()
    await folder.close()
    assert shown(out) == {}
    assert hidden(out, ASIDE) == hidden(out, STORE) == []


@pytest.mark.parametrize("pieces", [[], [b"little"], SOME])
async def test_what_is_abandoned_leaves_no_trace(folder, out, pieces):
    draft = await folder.begin("paper")
    draft.start(ORIGIN)
    for piece in pieces:
        await draft.write(piece)
    draft.abandon()
    draft.abandon()
    await folder.close()
    assert hidden(out, "") == []


async def test_abandoning_after_the_end_is_harmless(folder, out):
    draft = await folder.begin("paper")
    draft.start(ORIGIN)
    await draft.write(b"one")
    await draft.finish("paper.pdf", anything)
    draft.abandon()
    await folder.close()
    assert shown(out) == {"paper.pdf": b"one"}


async def test_a_cancelled_write_leaves_a_whole_file_or_none(folder, out):
    draft = await folder.begin("paper")
    draft.start(ORIGIN)
    await draft.write(b"one")
    task = asyncio.create_task(draft.finish("paper.pdf", anything))
    await asyncio.sleep(0)  # noqa: TID251  lets the task begin
    task.cancel()
    await asyncio.wait([task])
    draft.abandon()
    await folder.close()
    assert shown(out) in ({}, {"paper.pdf": b"one"})
    assert hidden(out, ASIDE) == []


async def test_a_write_that_is_cancelled_can_be_abandoned(folder, out):
    draft = await folder.begin("paper")
    draft.start(ORIGIN)
    task = asyncio.create_task(draft.write(b"x" * 50 * SMALL_BYTES))
    await asyncio.sleep(0)  # noqa: TID251  lets the task begin
    task.cancel()
    await asyncio.wait([task])
    draft.abandon()
    await folder.close()
    assert hidden(out, "") == []


async def test_other_digests_are_computed_when_asked_for(folder):
    digests = {}
    draft = await folder.begin("paper", ("md5", "sha256"))
    draft.start(ORIGIN)
    await draft.write(b"one")
    await draft.finish("paper.pdf", digests.update)
    assert digests == {name: hashlib.new(name, b"one").hexdigest() for name in ("sha256", "md5")}


@pytest.mark.parametrize("pieces", [[b"abc"], SOME])
async def test_a_later_try_resumes_where_the_earlier_one_stopped(tmp_path, out, pieces):
    await left(tmp_path, *pieces)
    content = b"".join(pieces)
    async with ArtifactFolder(out) as folder:
        draft = await folder.begin("paper")
        assert draft.kept == KeptPart(ORIGIN, len(content))
        assert b"".join([block async for block in draft.resume()]) == content
        await draft.write(b" the rest")
        stored = await draft.finish("paper.pdf", anything)
    assert shown(out) == {"paper.pdf": content + b" the rest"}
    assert stored.sha256 == hashlib.sha256(content + b" the rest").hexdigest()
    assert hidden(out, ASIDE) == []


async def test_a_version_that_changed_starts_over(tmp_path, out):
    await left(tmp_path, *SOME)
    async with ArtifactFolder(out) as folder:
        draft = await folder.begin("paper")
        changed = FileOrigin(ORIGIN.url, '"2"')
        assert not changed.continues(draft.kept.origin)
        draft.start(changed)
        await draft.write(b"new")
        await draft.finish("paper.pdf", anything)
    assert shown(out) == {"paper.pdf": b"new"}


@pytest.mark.parametrize("origin", [FileOrigin("http://a"), FileOrigin("http://a", 'W/"1"')])
async def test_without_a_firm_validator_nothing_is_left(tmp_path, out, origin):
    await left(tmp_path, *SOME, origin=origin)
    assert hidden(out, ASIDE) == []


async def test_after_a_restart_only_what_was_synced_counts(tmp_path, out):
    await left(tmp_path, *SOME)
    [note] = (out / ASIDE).glob("*.json")
    note.write_text('{"origin":{"url":"http://a/paper","etag":"\\"1\\""},"boot":"x","synced":2}')
    async with ArtifactFolder(out) as folder:
        draft = await folder.begin("paper")
        assert draft.kept == KeptPart(ORIGIN, 2)
        assert [block async for block in draft.resume()] == [b"xx"]
        await draft.write(b"!")
        await draft.finish("paper.pdf", anything)
    assert shown(out) == {"paper.pdf": b"xx!"}


@pytest.mark.parametrize("noted", [True, False])
async def test_what_died_between_its_two_names_is_not_written_to(tmp_path, out, noted):
    await left(tmp_path, *SOME)
    [part] = (out / ASIDE).glob("*.part")
    (out / "paper.pdf").hardlink_to(part)
    if not noted:
        part.with_suffix(".json").unlink()
    async with ArtifactFolder(out) as folder:
        draft = await folder.begin("paper")
        assert draft.kept is None
        draft.start(ORIGIN)
        await draft.write(b"!" * SMALL_BYTES)
        assert shown(out) == {"paper.pdf": b"".join(SOME)}
        draft.abandon()
    assert hidden(out, ASIDE) == []


async def test_tidying_removes_the_first_name_of_what_has_its_second(tmp_path, out):
    await left(tmp_path, *SOME)
    [part] = (out / ASIDE).glob("*.part")
    (out / "paper.pdf").hardlink_to(part)
    async with ArtifactFolder(out) as folder:
        assert (await folder.tidy(before_us=0)).leftovers == 1
    assert shown(out) == {"paper.pdf": b"".join(SOME)}


@pytest.mark.parametrize("text", ["", "{", '{"origin":1}'])
async def test_a_note_that_cannot_be_read_starts_over(tmp_path, out, text):
    await left(tmp_path, b"abc")
    [note] = (out / ASIDE).glob("*.json")
    note.write_text(text)
    async with ArtifactFolder(out) as folder:
        draft = await folder.begin("paper")
        assert draft.kept is None
        draft.start(ORIGIN)
        await draft.write(b"new")
        await draft.finish("paper.pdf", anything)
    assert shown(out) == {"paper.pdf": b"new"}
    assert hidden(out, ASIDE) == []


async def test_a_try_that_got_no_answer_keeps_what_was_left(tmp_path, out):
    await left(tmp_path, *SOME)
    for _ in range(2):
        async with ArtifactFolder(out) as folder:
            draft = await folder.begin("paper")
            assert draft.kept is not None
            await draft.leave()
            await draft.leave()


async def test_a_third_try_continues_after_the_second(tmp_path, out):
    await left(tmp_path, b"abc")
    async with ArtifactFolder(out) as folder:
        draft = await folder.begin("paper")
        assert [block async for block in draft.resume()] == [b"abc"]
        await draft.write(b"def")
        await draft.leave()
    async with ArtifactFolder(out) as folder:
        draft = await folder.begin("paper")
        assert [block async for block in draft.resume()] == [b"abcdef"]
        await draft.finish("paper.pdf", anything)
    assert shown(out) == {"paper.pdf": b"abcdef"}


async def test_what_is_certain_is_noted_as_a_file_grows(folder, out, monkeypatch):
    monkeypatch.setattr(partial, "SYNC_BYTES", 2 * SMALL_BYTES)
    monkeypatch.setattr(folder, "BLOCK_BYTES", (SMALL_BYTES, SMALL_BYTES))
    draft = await folder.begin("paper")
    draft.start(ORIGIN)
    synced = []
    for _ in range(4):
        await draft.write(b"x" * SMALL_BYTES)
        [note] = (out / ASIDE).glob("*.json")
        synced.append(partial.read_note(note).synced // SMALL_BYTES)
    draft.abandon()
    assert synced == [0, 2, 2, 4]


@pytest.mark.parametrize("pieces", [[b"wrong"], SOME])
async def test_another_source_may_be_tried_into_the_same_file(folder, out, pieces):
    draft = await folder.begin("paper")
    draft.start(ORIGIN)
    for piece in pieces:
        await draft.write(piece)
    draft.start(FileOrigin("http://b/paper"))
    await draft.write(b"right")
    stored = await draft.finish("paper.pdf", anything)
    assert shown(out) == {"paper.pdf": b"right"}
    assert (stored.size, stored.sha256) == (5, hashlib.sha256(b"right").hexdigest())
    assert hidden(out, ASIDE) == []


async def test_a_folder_that_was_closed_takes_no_file(folder, out):
    draft = await folder.begin("paper")
    draft.start(ORIGIN)
    await folder.close()
    with pytest.raises(FileTrouble, match="closed"):
        await draft.finish("paper.pdf", anything)
    assert hidden(out, "") == []


async def test_a_folder_that_was_never_opened_takes_no_file(tmp_path):
    folder = ArtifactFolder(tmp_path)
    with pytest.raises(RuntimeError, match="not opened"):
        await folder.begin("paper")
    await folder.close()


async def test_nothing_is_written_before_it_is_told_what_it_is(folder):
    draft = await folder.begin("paper")
    with pytest.raises(RuntimeError, match="start"):
        await draft.write(b"x")
    with pytest.raises(RuntimeError, match="left a part to resume"):
        [block async for block in draft.resume()]


async def test_what_was_given_up_cannot_be_finished(folder, out):
    draft = await folder.begin("paper")
    draft.start(ORIGIN)
    draft.abandon()
    with pytest.raises(FileTrouble, match="given up"):
        await draft.finish("paper.pdf", anything)
    assert hidden(out, "") == []


async def test_abandoning_after_the_folder_was_closed_removes_the_file(tmp_path, out):
    async with ArtifactFolder(out) as folder:
        draft = await folder.begin("paper")
        draft.start(ORIGIN)
        await draft.write(b"x" * SMALL_BYTES)
    draft.abandon()
    assert hidden(out, "") == []


async def test_two_who_write_the_same_item_do_not_mix(tmp_path, out):
    async with ArtifactFolder(out) as one, ArtifactFolder(out) as two:
        drafts = [await folder.begin("paper") for folder in (one, two)]
        for draft, letter in zip(drafts, (b"a", b"b"), strict=True):
            draft.start(ORIGIN)
            await draft.write(letter * SMALL_BYTES)
            await draft.write(letter * SMALL_BYTES)
        for draft in drafts:
            await draft.finish("paper.pdf", anything)
    assert sorted(shown(out).values()) == [b"a" * 2 * SMALL_BYTES, b"b" * 2 * SMALL_BYTES]
    assert hidden(out, ASIDE) == []


async def test_tidying_spares_what_is_written_and_what_can_be_gone_on_with(tmp_path, out):
    await left(tmp_path, *SOME)
    (out / ASIDE / "0123.part").write_bytes(b"of a crash")
    (out / ASIDE / "4567.json").write_text("{}")
    (out / ASIDE / "89ab.new").write_text("{}")
    async with ArtifactFolder(out) as other, ArtifactFolder(out) as folder:
        busy = await other.begin("busy")
        busy.start(FileOrigin("http://a"))
        await busy.write(b"b" * SMALL_BYTES)
        tidied = await folder.tidy(before_us=0)
        assert tidied.leftovers == 3
        await busy.finish("busy.pdf", anything)
        assert (await folder.begin("paper")).kept is not None
    assert shown(out) == {"busy.pdf": b"b" * SMALL_BYTES}


async def test_tidying_removes_copies_that_no_later_try_would_find(tmp_path, out):
    await left(tmp_path, *SOME)
    for path in (out / ASIDE).iterdir():
        path.rename(path.with_stem(f"{path.stem}-1-2"))
    async with ArtifactFolder(out) as folder:
        assert (await folder.tidy(before_us=0)).leftovers == 1
    assert hidden(out, ASIDE) == []


async def test_cleanup_removes_abandoned_partial_files(tmp_path, out):
    await left(tmp_path, *SOME)
    async with ArtifactFolder(out) as folder:
        assert (await folder.tidy(before_us=2**62)).leftovers == 1
        assert (await folder.begin("paper")).kept is None
    assert hidden(out, ASIDE) == []


async def test_tidying_frees_contents_whose_names_were_removed(folder, out):
    await keep(folder, "a.pdf", b"one")
    await keep(folder, "b.pdf", b"two")
    (out / "a.pdf").unlink()
    assert (await folder.tidy(before_us=0)).unnamed == 1
    assert [path.read_bytes() for path in hidden(out, STORE)] == [b"two"]


async def test_the_hidden_folders_may_be_removed_meanwhile(folder, out):
    await keep(folder, "a.pdf", b"one")
    for name in (ASIDE, STORE):
        for path in sorted((out / name).rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        (out / name).rmdir()
    await keep(folder, "b.pdf", b"two")
    assert shown(out) == {"a.pdf": b"one", "b.pdf": b"two"}


async def test_a_file_is_there_while_its_size_is_right(folder, out):
    stored = await keep(folder, "a.pdf", b"one")
    (out / "link.pdf").symlink_to(out / "a.pdf")
    assert await folder.has(stored.path, 3)
    assert not await folder.has(stored.path, 4)
    assert not await folder.has("b.pdf", 3)
    assert not await folder.has("link.pdf", 3)
    assert not await folder.has(".", (out.stat().st_size))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([b"1", b"2", b"33"]))))
def test_in_any_order_every_name_keeps_its_content(files):
    async def keep_all(out):
        async with ArtifactFolder(out) as folder:
            return await asyncio.gather(*(keep(folder, *each, item=str(each)) for each in files))

    with tempfile.TemporaryDirectory() as name:
        stored = asyncio.run(keep_all(Path(name)))
        told = zip((each.path for each in stored), (content for _, content in files), strict=True)
        assert shown(Path(name)) == dict(told)
        assert len(hidden(Path(name), STORE)) == len({content for _, content in files})
        assert hidden(Path(name), ASIDE) == []


async def test_files_are_as_readable_as_others_of_the_user(folder, out):
    await keep(folder, "a.pdf", b"one")
    plain = out / "plain"
    plain.write_bytes(b"")
    assert (out / "a.pdf").stat().st_mode == plain.stat().st_mode
    assert os.access(out / "a.pdf", os.R_OK)


async def test_what_is_held_of_large_files_is_shared_by_them(folder):
    least, most = folder.BLOCK_BYTES
    drafts = [await folder.begin(f"file {n}") for n in range(100)]
    assert folder.block_bytes(drafts[0]) == most
    assert [folder.block_bytes(draft) for draft in drafts][-1] == least
    del drafts[16:]
    assert folder.block_bytes(drafts[0]) == folder.HELD_BYTES // 16


async def test_a_large_file_among_few_is_written_in_larger_blocks(folder, out, monkeypatch):
    sizes = []
    append = partial.Partial.append

    def noting(self, *blocks):
        sizes.append(sum(map(len, blocks)))
        append(self, *blocks)

    monkeypatch.setattr(partial.Partial, "append", noting)
    await keep(folder, "large.bin", *[b"x" * 65_536] * 36)
    assert sizes == [SMALL_BYTES, 1024 * 1024, 1024 * 1024, 0]
    assert len(shown(out)["large.bin"]) == 36 * 65_536
