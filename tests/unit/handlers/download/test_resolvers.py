"""Every resolver asks a real server, and reads what the service is documented to answer."""

import pytest

from headgate.handlers.download.identifier import IdentifierKind, read_identifier
from headgate.handlers.download.plan import ResolverVerdict
from headgate.handlers.download.resolvers.registry import RESOLVERS
from tests.kit.resolvers import Case, Services, identifier_for, resolve

ASKING = [each for each in RESOLVERS.values() if each.name not in {"direct", "arxiv"}]
SAMPLES = {
    IdentifierKind.DOI: read_identifier("10.5555/found"),
    IdentifierKind.ARXIV: read_identifier("2101.00001"),
    IdentifierKind.PMCID: read_identifier("PMC5555"),
    IdentifierKind.URL: read_identifier("https://example.org/a.pdf"),
}
BY_NAME = {"argvalues": ASKING, "ids": [each.name for each in ASKING]}


@pytest.fixture(scope="module")
def services():
    with Services() as servers:
        yield servers


async def read(resolver, case, services):
    identifier = identifier_for(resolver, case)
    return await resolve(resolver, identifier, services.options(resolver.name))


@pytest.mark.parametrize("resolver", **BY_NAME)
async def test_a_file_that_the_service_knows_is_found(resolver, services):
    reading = await read(resolver, Case.FOUND, services)
    assert reading.verdict is ResolverVerdict.FOUND
    assert reading.plans[0].resolver == resolver.name
    if resolver.name != "wayback":  # which hands out its own copies
        assert reading.plans[0].url == services.urls(Case.FOUND)[0]


@pytest.mark.parametrize("resolver", **BY_NAME)
async def test_several_files_come_in_the_order_of_the_service_and_once_each(resolver, services):
    reading = await read(resolver, Case.SEVERAL, services)
    urls = [plan.url for plan in reading.plans]
    assert urls
    assert len(urls) == len(set(urls))
    if resolver.name not in {"wayback", "crossref"}:
        assert urls == services.urls(Case.SEVERAL)[: len(urls)]


@pytest.mark.parametrize("resolver", **BY_NAME)
async def test_a_work_without_a_file_gives_no_plan_and_a_reason(resolver, services):
    reading = await read(resolver, Case.NO_FILE, services)
    if resolver.name == "wayback":
        assert [plan.note for plan in reading.plans] == ["archived 20150601"]
    else:
        assert (reading.verdict, reading.plans) == (ResolverVerdict.NO_FILE, ())
        assert reading.reason


@pytest.mark.parametrize("resolver", **BY_NAME)
async def test_what_the_service_does_not_know_is_an_answer(resolver, services):
    reading = await read(resolver, Case.UNKNOWN, services)
    assert (reading.verdict, reading.plans) == (ResolverVerdict.UNKNOWN, ())
    assert "does not know it" in reading.reason


@pytest.mark.parametrize("case", [Case.BROKEN, Case.PAGE, Case.ODD])
@pytest.mark.parametrize("resolver", **BY_NAME)
async def test_a_reply_of_another_shape_is_not_an_exception(resolver, case, services):
    reading = await read(resolver, case, services)
    if resolver.name == "landing_page" and case is Case.PAGE:
        assert reading.verdict is ResolverVerdict.NO_FILE  # any page is a page
    else:
        assert reading.verdict is ResolverVerdict.UNREADABLE
    assert reading.plans == ()
    assert reading.reason


@pytest.mark.parametrize(("case", "status"), [(Case.BUSY, 429), (Case.DOWN, 500)])
@pytest.mark.parametrize("resolver", **BY_NAME)
async def test_a_service_that_does_not_answer_is_a_fault_with_its_status(
    resolver, case, status, services
):
    reading = await read(resolver, case, services)
    assert (reading.verdict, reading.plans, reading.status) == (ResolverVerdict.FAULT, (), status)


async def test_direct_and_arxiv_need_no_request(services):
    direct, arxiv = RESOLVERS["direct"], RESOLVERS["arxiv"]
    url = read_identifier("https://example.org/a.bin")
    (plan,) = (await resolve(direct, url, services.options("files"))).plans
    assert (plan.url, plan.types) == ("https://example.org/a.bin", ())
    paper = read_identifier("arXiv:2101.00001v2")
    (plan,) = (await resolve(arxiv, paper, services.options("arxiv"))).plans
    assert plan.url == services.base_url("arxiv") + "/pdf/2101.00001v2"
    assert services.server("arxiv").seen == []


@pytest.mark.parametrize("resolver", RESOLVERS.values(), ids=[*RESOLVERS])
@pytest.mark.parametrize("kind", list(IdentifierKind))
def test_no_resolver_has_a_question_about_a_kind_that_is_not_its(resolver, kind, services):
    if kind not in resolver.kinds:
        step = resolver.start(SAMPLES[kind], services.options("files"))
        assert step.verdict is ResolverVerdict.NOT_ASKED
