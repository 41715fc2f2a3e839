"""The file that a page leads to, however the page is made."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.handlers.download.identifier import read_identifier
from headgate.handlers.download.plan import ResolverReply, ResolverRequest, ResolverVerdict
from headgate.handlers.download.resolvers.landing_page import MOST_ANCHORS, PAGE_CHARS, files_on
from headgate.handlers.download.resolvers.registry import RESOLVERS

PAGE = "https://journal.example/vol/1/article"
PAPER = read_identifier("10.5555/found")


def read(text, headers=None, url=PAGE, status=200):
    ask = ResolverRequest("landing_page", "", "https://doi.org/10.5555/found", light=False)
    headers = {"Content-Type": "text/html; charset=utf-8"} if headers is None else headers
    return RESOLVERS["landing_page"].read(PAPER, ResolverReply(ask, status, text, headers, url))


@pytest.mark.parametrize(
    ("html", "where", "url"),
    [
        (
            '<meta name="citation_pdf_url" content="/a.pdf">',
            "meta",
            "https://journal.example/a.pdf",
        ),
        ("<META CONTENT='a' NAME='Citation_PDF_URL'/>", "meta", "https://journal.example/vol/1/a"),
        ('<meta property=citation_pdf_url content="//c.example/a">', "meta", "https://c.example/a"),
        (
            '<link rel="alternate" type="application/pdf" href="full?a=1&amp;b=2">',
            "link",
            "https://journal.example/vol/1/full?a=1&b=2",
        ),
        ('<a href="x.PDF#page=2">PDF</a>', "anchor", "https://journal.example/vol/1/x.PDF"),
        ('<a href="/doi/pdf/10.1/x">PDF</a>', "anchor", "https://journal.example/doi/pdf/10.1/x"),
        (
            '<a type="application/pdf" href="get">PDF</a>',
            "anchor",
            "https://journal.example/vol/1/get",
        ),
        (
            '<base href="https://cdn.example/x/"><a href="a.pdf">',
            "anchor",
            "https://cdn.example/x/a.pdf",
        ),
        ('<![broken[<a href="late.pdf">', None, None),
        ('<a href="early.pdf"><![broken[', "anchor", "https://journal.example/vol/1/early.pdf"),
        ('<!-- <a href="hidden.pdf"> --><p>', None, None),
        ('<script>"<a href=hidden.pdf>"</script><p>', None, None),
        ('<a href="javascript:pdf()"><a href="mailto:a.pdf"><a><a href>', None, None),
        ('<a href="http://[::1.pdf">', None, None),
    ],
)
def test_a_page_names_its_file(html, where, url):
    assert files_on(html, PAGE) == ([(where, url)] if where else [])


def test_what_is_meant_for_programs_comes_first_and_readers_links_are_few():
    anchors = "".join(f'<a href="{n}.pdf">x</a>' for n in range(9))
    html = f'<a href="/pdf/1">x</a>{anchors}<link type="application/pdf" href="l">'
    found = read(html + '<meta name="citation_pdf_url" content="m">').plans
    assert [plan.url.rpartition("/")[2] for plan in found] == ["m", "l", "0.pdf", "1.pdf", "2.pdf"]
    assert len(found) == 2 + MOST_ANCHORS


def test_a_plan_says_which_page_it_was_found_on():
    (plan,) = read('<a href="x.pdf">').plans
    assert (plan.referer, plan.note) == (PAGE, "anchor")


def test_a_doi_that_leads_to_the_file_itself_is_its_own_plan():
    reading = read("%PDF-1.4", {"content-type": "Application/PDF"}, "https://p.example/a")
    assert [plan.url for plan in reading.plans] == ["https://p.example/a"]


def test_a_page_without_a_file_and_a_reply_that_is_not_html():
    assert read("<p>nothing</p>").verdict is ResolverVerdict.NO_FILE
    assert read("{}", {"content-type": "application/json"}).verdict is ResolverVerdict.UNREADABLE


@given(st.text(max_size=300) | st.lists(st.sampled_from("<>a\"'!-[]=/ &;#x")).map("".join))
def test_any_text_is_a_page(text):
    assert read(text).verdict in {ResolverVerdict.FOUND, ResolverVerdict.NO_FILE}


@pytest.mark.parametrize(
    "part", ["<a", "<a href='", "<!--", "<![", "<a href=x.pdf>", "&#", "</", "<!"]
)
def test_a_page_of_any_size_is_read_in_a_moment(part):
    """Quadratic reading of such a page would take minutes, and the test would time out."""
    read(part * (2 * PAGE_CHARS // len(part)))
