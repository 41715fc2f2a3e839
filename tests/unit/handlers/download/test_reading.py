"""What single services say, read as it is meant."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.handlers.download.identifier import read_identifier
from headgate.handlers.download.plan import (
    Plan,
    ResolverReply,
    ResolverRequest,
    ResolverResult,
    ResolverVerdict,
    Version,
)
from headgate.handlers.download.resolvers.json_tree import in_path, phrase
from headgate.handlers.download.resolvers.options import ResolverOptions
from headgate.handlers.download.resolvers.registry import RESOLVERS
from tests.kit import resolver_replies

DOI = "10.5555/found"
PAPER = read_identifier(DOI)
URLS = ["https://a.example/1.pdf", "https://b.example/2.pdf", "https://c.example/3.pdf"]
ASKING = [name for name in RESOLVERS if name not in {"direct", "arxiv"}]
WORDS = sorted(
    {
        *("results", "result", "hits", "data", "message", "link", "files", "response", "docs"),
        *("best_oa_location", "oa_locations", "locations", "resultList", "bibjson", "doi", "id"),
        *("openAccessPdf", "url", "archived_snapshots", "closest", "instances", "urls", "links"),
        *("paperId", "fullTextUrlList", "fullTextUrl", "embeds", "primary_file", "available"),
    }
)
TREES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.sampled_from([DOI, "http://", "https://x.example/a.pdf", "200", "20150601120000", "pdf"])
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS), inner),
    max_leaves=20,
)


def first_ask(name, identifier=PAPER, email="me@example.org"):
    resolver = RESOLVERS[name]
    return resolver.start(identifier, ResolverOptions(resolver.base_url, email))


def read(name, tree, identifier=PAPER, **ask):
    asked = ResolverRequest(name, name, ask.pop("url", "https://x.example/"), **ask)
    return RESOLVERS[name].read(identifier, ResolverReply(asked, 200, json.dumps(tree)))


@pytest.mark.parametrize(
    ("name", "text", "url", "params"),
    [
        (
            "unpaywall",
            DOI,
            "https://api.unpaywall.org/v2/10.5555/found",
            {"email": "me@example.org"},
        ),
        (
            "crossref",
            DOI,
            "https://api.crossref.org/works/10.5555/found",
            {"mailto": "me@example.org"},
        ),
        ("openalex", "PMC5", "https://api.openalex.org/works/pmcid:PMC5", None),
        (
            "openalex",
            "arXiv:2101.00001v2",
            "https://api.openalex.org/works/doi:10.48550/arxiv.2101.00001",
            None,
        ),
        (
            "europe_pmc",
            "PMC5",
            "https://www.ebi.ac.uk/europepmc/webservices/rest/search",
            {"query": "PMCID:PMC5", "format": "json", "resultType": "core", "pageSize": "5"},
        ),
        (
            "core",
            '10.5555/a"b',
            "https://api.core.ac.uk/v3/search/works/",
            {"q": 'doi:"10.5555/a\\"b"', "limit": "5"},
        ),
        ("doaj", DOI, "https://doaj.org/api/search/articles/doi:%2210.5555%2Ffound%22", None),
        (
            "semantic_scholar",
            "solv-int/9901001v3",
            "https://api.semanticscholar.org/graph/v1/paper/ARXIV:solv-int/9901001",
            None,
        ),
        (
            "semantic_scholar",
            "PMC5",
            "https://api.semanticscholar.org/graph/v1/paper/PMCID:5",
            None,
        ),
        (
            "osf",
            "10.31234/osf.io/AbCd5_v2",
            "https://api.osf.io/v2/preprints/abcd5_v2/",
            {"embed": "primary_file"},
        ),
        ("landing_page", DOI, "https://doi.org/10.5555/found", {}),
        (
            "wayback",
            "http://dead.example/a?b=1",
            "https://archive.org/wayback/available",
            {"url": "http://dead.example/a?b=1"},
        ),
    ],
)
def test_a_question_is_put_as_the_service_documents_it(name, text, url, params):
    ask = first_ask(name, read_identifier(text))
    assert (ask.resolver, ask.url) == (name, url)
    if params is not None:
        assert ask.params == params


def test_only_a_page_is_a_transfer():
    asks = {name: first_ask(name) for name in ASKING if name not in {"wayback", "osf"}}
    assert [name for name, ask in asks.items() if not ask.light] == ["landing_page"]
    assert [name for name, ask in asks.items() if ask.provider != name] == ["landing_page"]


def test_no_doi_climbs_out_of_its_path():
    assert in_path("10.5555/a/../../users?x#y") == "10.5555%2Fa%2F..%2F..%2Fusers%3Fx%23y"
    assert in_path("10.1002/(SICI)1:2<3>4;5") == "10.1002/(SICI)1:2%3C3%3E4;5"
    assert phrase('a" OR doi:*\\') == '"a\\" OR doi:*\\\\"'


def test_unpaywall_without_an_address_is_not_asked():
    assert first_ask("unpaywall", email="").verdict is ResolverVerdict.NOT_ASKED
    assert first_ask("crossref", email="").params == {}
    assert "mailto" not in first_ask("openalex", email="").params


def test_a_page_that_a_service_names_is_read_like_any_other():
    page = "https://journal.example/article/1"
    assert first_ask("landing_page", read_identifier(page)).url == page


def test_a_resolver_without_requests_is_not_asked():
    reply = ResolverReply(ResolverRequest("direct", "", "https://x.example/"), 200, "{}")
    assert RESOLVERS["direct"].read(PAPER, reply).verdict is ResolverVerdict.NOT_ASKED


def test_a_doi_that_is_not_of_osf_is_not_asked_there():
    assert first_ask("osf").verdict is ResolverVerdict.NOT_ASKED


def test_unpaywall_tells_licence_and_version_and_pages_of_works_without_a_file():
    reading = read("unpaywall", resolver_replies.unpaywall(DOI, URLS))
    assert [plan.version for plan in reading.plans] == [
        Version.PUBLISHED,
        Version.ACCEPTED,
        Version.ACCEPTED,
    ]
    assert reading.plans[0].license == "cc-by"
    page = {"url_for_pdf": None, "url_for_landing_page": "https://r.example/1", "url": "x"}
    without = read("unpaywall", {"best_oa_location": page, "oa_locations": [page]})
    assert (without.verdict, without.pages) == (ResolverVerdict.NO_FILE, ("https://r.example/1",))


def test_crossref_puts_the_version_of_record_first_and_checking_links_last():
    def entry(url, version, purpose="text-mining", kind="application/pdf"):
        words = {"content-version": version, "intended-application": purpose}
        return {"URL": f"https://p.example/{url}", "content-type": kind, **words}

    links = [
        entry("checked", "vor", "similarity-checking"),
        entry("accepted", "am"),
        entry("vague.pdf", "vor", kind="unspecified"),
        entry("vague", "vor", kind="unspecified"),
        entry("record", "vor"),
        entry("xml", "vor", kind="text/xml"),
    ]
    reading = read("crossref", {"message": {"link": links}})
    assert [plan.url.rpartition("/")[2] for plan in reading.plans] == [
        "vague.pdf",
        "record",
        "accepted",
        "checked",
    ]
    assert read("crossref", {"message": {"DOI": DOI}}).verdict is ResolverVerdict.NO_FILE


def test_a_search_that_finds_another_work_has_not_found_this_one():
    for name in ("europe_pmc", "core", "doaj", "zenodo", "hal", "openaire"):
        other = getattr(resolver_replies, name)("10.5555/other", URLS)
        assert read(name, other).verdict is ResolverVerdict.UNKNOWN, name


def test_europe_pmc_leaves_subscribers_links_out_and_knows_pmcids():
    reading = read("europe_pmc", resolver_replies.europe_pmc(DOI, URLS), read_identifier("PMC5555"))
    assert [plan.url for plan in reading.plans] == URLS
    other = read_identifier("PMC1")
    assert read("europe_pmc", resolver_replies.europe_pmc(DOI, URLS), other).plans == ()


def test_doaj_gives_pages_where_it_has_no_pdf():
    reading = read("doaj", resolver_replies.doaj(DOI, []))
    assert (reading.plans, reading.pages) == ((), ("https://journal.example/article/1",))


def test_semantic_scholar_says_page_where_its_link_is_a_doi():
    reading = read(
        "semantic_scholar", {"paperId": "1", "openAccessPdf": {"url": "https://doi.org/1"}}
    )
    assert (reading.verdict, reading.pages) == (ResolverVerdict.NO_FILE, ("https://doi.org/1",))
    empty = read("semantic_scholar", {"paperId": "1", "openAccessPdf": {"url": ""}})
    assert (empty.verdict, empty.pages) == (ResolverVerdict.NO_FILE, ())


def test_deposits_tell_checksums():
    (plan, *_) = read("zenodo", resolver_replies.zenodo(DOI, URLS)).plans
    assert (plan.checksum, plan.license) == (
        f"md5:{resolver_replies.digest('md5', plan.url)}",
        "cc-by-4.0",
    )
    (plan,) = read("osf", resolver_replies.osf(DOI, URLS)).plans
    assert plan.checksum == f"sha256:{resolver_replies.digest('sha256', plan.url)}"


def test_zenodo_knows_the_doi_of_all_versions():
    tree = resolver_replies.zenodo("10.5281/zenodo.1", URLS)
    assert (
        read("zenodo", tree, read_identifier("10.5281/zenodo.10")).verdict is ResolverVerdict.FOUND
    )


def test_hal_may_give_a_field_as_a_list():
    tree = resolver_replies.hal(DOI, URLS)
    tree["response"]["docs"][0] |= {"doiId_s": [DOI], "fileMain_s": [URLS[1]]}
    assert read("hal", tree).plans[0].url == URLS[1]


def test_openaire_leaves_closed_copies_out():
    reading = read("openaire", resolver_replies.openaire(DOI, URLS))
    assert [plan.url for plan in reading.plans] == URLS
    assert read("openaire", resolver_replies.openaire(DOI, [])).plans == ()


def test_figshare_asks_twice_and_then_ends():
    ask = first_ask("figshare")
    assert (ask.method, ask.json) == ("POST", {"doi": DOI, "page_size": 5})
    articles = json.dumps([{"id": 7, "doi": "10.5555/other"}, {"id": 8, "doi": DOI.upper()}])
    second = RESOLVERS["figshare"].read(PAPER, ResolverReply(ask, 200, articles))
    assert (second.method, second.url) == ("GET", "https://api.figshare.com/v2/articles/8")
    nameless = ResolverReply(ask, 200, json.dumps([{"doi": DOI}]))
    assert RESOLVERS["figshare"].read(PAPER, nameless).verdict is ResolverVerdict.UNREADABLE


def test_the_archive_lists_pdfs_of_the_years_around_its_snapshot():
    url = read_identifier("http://dead.example/a.pdf")
    resolver = RESOLVERS["wayback"]
    first = first_ask("wayback", url)
    closest = {"available": True, "timestamp": "20150601120000", "status": "200"}
    tree = json.dumps({"archived_snapshots": {"closest": closest}})
    listing = resolver.read(url, ResolverReply(first, 200, tree))
    assert listing.url == "https://web.archive.org/cdx/search/cdx"
    assert (listing.params["from"], listing.params["to"]) == ("2013", "2017")
    rows = [
        ["timestamp", "original", "statuscode"],
        ["20140101000000", "http://dead.example:80/a.pdf", "200"],
        ["20160101000000", "http://dead.example/a.pdf", "301"],
        ["x", "http://dead.example/a.pdf", "200"],
    ]
    reading = resolver.read(url, ResolverReply(listing, 200, json.dumps(rows)))
    snapshot = "https://web.archive.org/web/20150601120000id_/http://dead.example/a.pdf"
    assert [plan.url for plan in reading.plans] == [
        "https://web.archive.org/web/20140101000000id_/http://dead.example:80/a.pdf",
        snapshot,
    ]
    # What the first question found is not lost with the second.
    for status, text in [(503, ""), (200, "<html>"), (404, "")]:
        ended = resolver.read(url, ResolverReply(listing, status, text))
        assert (ended.verdict, [plan.url for plan in ended.plans]) == (
            ResolverVerdict.FOUND,
            [snapshot],
        )


def test_links_that_cannot_be_fetched_are_not_plans():
    odd = ["ftp://a.example/1.pdf", "/relative.pdf", "", "javascript:void(0)", "http://[bad/x.pdf"]
    for name in ("unpaywall", "openalex", "hal", "zenodo"):
        reading = read(name, getattr(resolver_replies, name)(DOI, odd))
        assert reading.plans == (), name


@pytest.mark.parametrize("name", ASKING)
@settings(max_examples=40, deadline=None)
@given(tree=TREES)
def test_whatever_json_comes_the_reading_ends(name, tree):
    for step in ("", "article", "listing"):
        found = (Plan(name, "https://x.example/kept.pdf"),) if step == "listing" else ()
        end = read(name, tree, step=step, found=found)
        if isinstance(end, ResolverResult):
            assert bool(end.plans) == (end.verdict is ResolverVerdict.FOUND)
            assert end.plans or end.reason
            assert all(plan.url.startswith(("http://", "https://")) for plan in end.plans)
        else:
            assert isinstance(end, ResolverRequest)


@pytest.mark.parametrize("name", ASKING)
@pytest.mark.parametrize("text", ["", "[" * 100_000, "\ufeff{}", '{"a": "\\ud800"}', "NaN", "null"])
def test_whatever_text_comes_the_reading_ends(name, text):
    end = RESOLVERS[name].read(
        PAPER, ResolverReply(ResolverRequest(name, name, "https://x.example/"), 200, text)
    )
    assert end.plans == ()
    assert end.reason
