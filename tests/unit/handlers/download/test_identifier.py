"""The same work has the same key in every notation."""

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.fault import AttemptOver, FaultClass
from headgate.core.url import normalize
from headgate.handlers.download.identifier import (
    BadIdentifier,
    IdentifierKind,
    identifier_of,
    read_identifier,
)

SUFFIX = st.text(
    st.characters(min_codepoint=33, max_codepoint=0x24F, categories=["L", "N", "P", "S"])
)
DOIS = st.builds(
    lambda code, suffix: f"10.{code}/x{suffix}x", st.integers(1000, 999_999_999), SUFFIX
).filter(lambda doi: not doi.lower().startswith("10.48550/"))
MONTHS = st.integers(1, 12).map(lambda month: f"{month:02}")
VERSIONS = st.sampled_from(["", "v1", "v12"])
NEW = st.builds(
    lambda year, month, number, version: f"{year:02}{month}.{number:05}{version}",
    st.integers(7, 99),
    MONTHS,
    st.integers(0, 99_999),
    VERSIONS,
)
OLD = st.builds(
    lambda archive, year, month, number, version: f"{archive}/{year:02}{month}{number:03}{version}",
    st.sampled_from(["hep-th", "math", "cond-mat", "solv-int", "cs"]),
    st.integers(0, 99),
    MONTHS,
    st.integers(0, 999),
    VERSIONS,
)


@pytest.mark.parametrize(
    "written",
    [
        "10.1234/AbC.5",
        "doi:10.1234/abc.5",
        "DOI: 10.1234/abc.5",
        "DOI 10.1234/abc.5",
        "doi=10.1234/abc.5",
        "info:doi/10.1234/abc.5",
        "https://doi.org/10.1234/ABC.5",
        "http://dx.doi.org/10.1234/abc.5",
        "https://www.doi.org/10.1234/abc.5?nosfx=y#part",
        "doi.org/10.1234/abc.5",
        "https://doi.org/10.1234%2Fabc.5",
        "10.1234%2fabc.5",
        "<10.1234/abc.5>",
        '"10.1234/abc.5",'.rstrip(","),
        "10.1234/abc.5.",
        "10.1234/abc.5;",
        "10.1234/abc.5),",
        "\ufeff 10.1234/abc\u200b.5\u00a0",
    ],
)
def test_a_doi_has_one_form(written):
    found = read_identifier(written)
    assert (found.key, found.given) == ("doi:10.1234/abc.5", written)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("10.1016/S0140-6736(05)66546-4", "10.1016/s0140-6736(05)66546-4"),
        ("(10.1016/S0140-6736(05)66546-4)", "10.1016/s0140-6736(05)66546-4"),
        ("10.1016/S0140-6736(05)66546-4)", "10.1016/s0140-6736(05)66546-4"),
        (
            "https://doi.org/10.1002/(SICI)1097-0258(19980815)17:15/16%3C1661::AID-SIM968%3E3.0.CO;2-2",
            "10.1002/(sici)1097-0258(19980815)17:15/16<1661::aid-sim968>3.0.co;2-2",
        ),
        ("10.1000.10/123", "10.1000.10/123"),
        ("10.1234/a%41", "10.1234/a%41"),
        ("https://doi.org/10.1234/a%3Fb", "10.1234/a?b"),
        ("10.1234/GRÖSSE", "10.1234/grÖsse"),
    ],
)
def test_what_belongs_to_a_doi_stays(written, value):
    assert read_identifier(written).value == value


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("arXiv:2101.00001", "2101.00001"),
        ("ARXIV: 2101.00001V2", "2101.00001v2"),
        ("2101.00001v2.", "2101.00001v2"),
        ("0704.0001", "0704.0001"),
        ("https://arxiv.org/abs/2101.00001", "2101.00001"),
        ("http://export.arxiv.org/pdf/2101.00001v3.pdf", "2101.00001v3"),
        ("arxiv.org/pdf/2101.00001?download=1", "2101.00001"),
        ("https://arxiv.org/abs/math.GT/0309136", "math/0309136"),
        ("hep-th/9901001v1", "hep-th/9901001v1"),
        ("math/0309136", "math/0309136"),
        ("10.48550/arXiv.2101.00001", "2101.00001"),
        ("https://doi.org/10.48550/arXiv.math/0309136", "math/0309136"),
    ],
)
def test_an_arxiv_id_has_one_form(written, value):
    found = read_identifier(written)
    assert (found.kind, found.value) == (IdentifierKind.ARXIV, value)
    assert found.doi == f"10.48550/arxiv.{value.rsplit('v', 1)[0] if value[-2] == 'v' else value}"


@pytest.mark.parametrize(
    "written",
    [
        "PMC123",
        "pmc123",
        "PMCID: PMC123",
        "PMC0123",
        "PMC123.2",
        "PMC123;",
        "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC123/",
        "https://pmc.ncbi.nlm.nih.gov/articles/PMC123",
        "https://europepmc.org/article/PMC/PMC123",
        "europepmc.org/articles/PMC123#abstract",
    ],
)
def test_a_pmcid_has_one_form(written):
    assert read_identifier(written).key == "pmcid:PMC123"


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("HTTPS://Example.ORG:443/a/../b.pdf#page=2", "https://example.org/b.pdf"),
        ("<https://example.org/a b.pdf>", "https://example.org/a%20b.pdf"),
        # A PDF of a PMC article is that file, and a paper at a publisher is that page.
        (
            "https://europepmc.org/articles/PMC123?pdf=render",
            "https://europepmc.org/articles/PMC123?pdf=render",
        ),
        ("https://link.example/article/10.1007/abc", "https://link.example/article/10.1007/abc"),
    ],
)
def test_a_url_has_one_form(written, value):
    found = read_identifier(written)
    assert (found.kind, found.value, found.doi) == (IdentifierKind.URL, value, "")


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("", "the identifier is empty"),
        (" \u200b ", "the identifier is empty"),
        ("hello world", "is neither a DOI, an arXiv id, a PMCID nor a URL"),
        ("10.1234/", "is neither"),
        ("10.12/abc", "is neither"),
        ("10.1234/a b", "is neither"),
        ("2113.00001", "is neither"),
        ("PMC0", "is neither"),
        ("12345678", "is neither"),
        ("example.org/a.pdf", "is neither"),
        ("ftp://example.org/a.pdf", "only http and https"),
        ("http://", "names no host"),
        ("https://me:secret@example.org/", "user or a password"),
        ("10.1234/" + "a" * 2000, "longer than 2,000 characters"),
        ("10.1234/\ud800", "unpaired surrogate"),
        ("10.1234/a\x07b", "is neither"),
    ],
)
def test_what_is_none_is_refused_with_the_reason(written, why):
    with pytest.raises(BadIdentifier, match=why) as caught:
        read_identifier(written)
    assert caught.value.ending.kind is FaultClass.PERMANENT


@pytest.mark.parametrize(
    ("row", "key"),
    [
        ({"doi": "10.1234/A"}, "doi:10.1234/a"),
        ({"DOI": "https://doi.org/10.1234/A", "url": "https://x.example/"}, "doi:10.1234/a"),
        ({"arXiv ID": "2101.00001"}, "arxiv:2101.00001"),
        ({"pmcid": 123}, "pmcid:PMC123"),
        ({"pmcid": "PMC123"}, "pmcid:PMC123"),
        ({"id": "hep-th/9901001"}, "arxiv:hep-th/9901001"),
        ({"title": "x", "identifier": "10.1234/a"}, "doi:10.1234/a"),
        ({"doi": None, "url": "https://doi.org/10.1234/a"}, "url:https://doi.org/10.1234/a"),
        ({"doi": "n/a", "url": "https://x.example/a"}, "url:https://x.example/a"),
    ],
)
def test_a_row_is_read_by_its_columns(row, key):
    assert identifier_of(row).key == key


def test_a_row_with_nothing_readable_tells_of_its_first_column():
    with pytest.raises(BadIdentifier, match="'n/a' is neither"):
        identifier_of({"id": "none", "doi": "n/a"})
    with pytest.raises(BadIdentifier, match="nothing in any of doi, arxiv"):
        identifier_of({"title": "On nothing", "doi": " "})


@given(DOIS)
def test_every_way_to_write_a_doi_has_one_key(doi):
    plain = read_identifier(doi)
    written = quote(doi, safe="/")
    for form in (f"doi:{doi}", f"https://doi.org/{written}", f"http://DX.doi.org/{written}"):
        assert read_identifier(form).key == plain.key
    assert read_identifier(doi.upper() if doi.isascii() else doi).key == plain.key


@given(st.one_of(DOIS, NEW, OLD, st.integers(1, 10**9).map(lambda number: f"PMC{number}")))
def test_the_one_form_reads_as_itself(written):
    found = read_identifier(written)
    assert read_identifier(found.value).key == found.key


@given(st.one_of(NEW, OLD))
def test_every_way_to_write_an_arxiv_id_has_one_key(paper):
    forms = [f"arXiv:{paper}", f"https://arxiv.org/abs/{paper}", f"arxiv.org/pdf/{paper}.pdf"]
    assert {read_identifier(form).key for form in [paper, *forms]} == {f"arxiv:{paper}"}


@given(st.text(max_size=80))
def test_any_text_is_an_identifier_or_is_refused(text):
    try:
        found = read_identifier(text)
    except AttemptOver as over:
        assert over.ending.reason  # noqa: PT017  both ways out are right
    else:
        assert read_identifier(found.value).key == found.key


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=40))
def test_a_url_is_read_as_the_client_reads_it(tail):
    url = f"http://example.org/{tail}"
    assert identifier_of({"url": url}).value == normalize(url)
