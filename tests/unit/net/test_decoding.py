"""Content encodings are undone in small pieces; invalid and hostile ones are noticed."""

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.body_limits import DecompressionLimit
from headgate.net.decoding import PIECE, BadEncoding, BodyDecoder, TooFarDecompressed, encoding_of

NO_LIMIT = DecompressionLimit()


def bare(data: bytes) -> bytes:
    packing = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packing.compress(data) + packing.flush()


PACKINGS = {
    "gzip": ("gzip", gzip.compress),
    "zlib": ("deflate", zlib.compress),
    "bare": ("deflate", bare),
}


def unpacked(encoding: str, pieces: list[bytes], limit: DecompressionLimit = NO_LIMIT) -> bytes:
    unpacking = BodyDecoder(encoding, limit)
    found = [part for piece in pieces for part in unpacking.feed(piece)]
    unpacking.finish()
    assert all(0 < len(part) <= PIECE for part in found)
    return b"".join(found)


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


@pytest.mark.parametrize("packing", PACKINGS)
@given(data=st.binary(max_size=300), times=st.integers(0, 1_000), size=st.integers(1, 5_000))
def test_every_compressed_body_is_decompressed(packing: str, data: bytes, times: int, size: int):
    encoding, pack = PACKINGS[packing]
    assert unpacked(encoding, cut(pack(data * times), size)) == data * times


@pytest.mark.parametrize("packing", PACKINGS)
@given(data=st.binary(min_size=1, max_size=300), left=st.floats(0, 1))
def test_a_body_without_its_end_is_noticed(packing: str, data: bytes, left: float):
    encoding, pack = PACKINGS[packing]
    packed = pack(data)
    with pytest.raises(BadEncoding):
        unpacked(encoding, [packed[: 1 + round(left * (len(packed) - 2))]])


def test_members_follow_each_other_and_padding_is_passed_over():
    packed = b"".join(gzip.compress(b"%d," % number) for number in range(3_000))
    wanted = b"".join(b"%d," % number for number in range(3_000))
    for size in (7, 1_000, len(packed)):
        assert unpacked("gzip", [*cut(packed, size), b"\0" * 600]) == wanted


def test_nothing_at_all_is_nothing():
    assert unpacked("gzip", []) == b""


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
@pytest.mark.parametrize("body", [b"hello hello hello", b"\x1f\x8b\x08rubbish rubbish"])
def test_a_body_that_is_not_compressed_is_noticed(encoding: str, body: bytes):
    with pytest.raises(BadEncoding):
        unpacked(encoding, [body])


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip"])
def test_an_unknown_content_encoding_is_refused(encoding: str):
    with pytest.raises(BadEncoding, match=encoding):
        BodyDecoder(encoding, NO_LIMIT)


@pytest.mark.parametrize("pieces", [1, 100])
def test_a_bomb_is_stopped_soon_after_its_limit(pieces: int):
    bomb = gzip.compress(b"\0" * 10_000_000)
    limit = DecompressionLimit(harmless_bytes=1_000_000)
    unpacking = BodyDecoder("gzip", limit)
    sizes: list[int] = []
    with pytest.raises(TooFarDecompressed, match="bytes unpack to"):
        sizes.extend(
            len(part) for piece in cut(bomb, len(bomb) // pieces) for part in unpacking.feed(piece)
        )
    most = max(limit.harmless_bytes, len(bomb) * limit.ratio)
    assert limit.harmless_bytes - PIECE <= sum(sizes) <= most


def test_a_bomb_of_many_members_is_one_too():
    bomb = gzip.compress(b"\0" * 1_000_000) * 20
    with pytest.raises(TooFarDecompressed):
        unpacked("gzip", [bomb], DecompressionLimit(harmless_bytes=1_000_000))


def test_a_large_body_that_packs_well_is_none():
    text = b"some text that is like all other text, " * 50_000
    assert unpacked("gzip", [gzip.compress(text)]) == text


@pytest.mark.parametrize(
    ("told", "kind", "encoding"),
    [
        ("", "", ""),
        ("identity", "", ""),
        ("GZIP", "application/pdf", "gzip"),
        ("x-gzip", "text/plain; charset=utf-8", "gzip"),
        (" deflate ", "", "deflate"),
        ("br", "", "br"),
        ("gzip, br", "", "gzip, br"),
        ("aws-chunked,gzip", "", "gzip"),
        ("utf-8", "", ""),
        ("gzip", "application/gzip", ""),
        ("x-gzip", "application/x-gzip", ""),
    ],
)
def test_the_header_is_read_as_servers_mean_it(told: str, kind: str, encoding: str):
    assert encoding_of({"content-encoding": told, "content-type": kind}) == encoding
