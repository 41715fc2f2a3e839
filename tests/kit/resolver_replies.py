"""Replies of the documented shapes, with invented content, for every service that we ask."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

Urls = Sequence[str]
Shape = Callable[[str, Urls], Any]


def pdf(name: str) -> bytes:
    """A small PDF that no other name has."""
    filling = f"% {name}\n".encode() * 200
    return b"%PDF-1.4\n" + filling + b"1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"


def digest(algorithm: str, url: str) -> str:
    """Of the file that is at a URL."""
    path = "/" + url.partition("://")[2].partition("/")[2]
    return hashlib.new(algorithm, pdf(path)).hexdigest()


class Service(NamedTuple):
    """How a service words its knowledge of a DOI with these PDFs."""

    known: Shape
    unknown: Any = None
    """What it answers about a DOI that it has not; None for a 404."""


def unpaywall(doi: str, urls: Urls) -> Any:
    """The object of a DOI; without an open copy the best location is null."""
    places = [
        {
            "endpoint_id": None,
            "evidence": "open (via page says license)",
            "host_type": "publisher" if number == 0 else "repository",
            "is_best": number == 0,
            "license": "cc-by",
            "url": url,
            "url_for_landing_page": f"https://doi.org/{doi}",
            "url_for_pdf": url,
            "version": "publishedVersion" if number == 0 else "acceptedVersion",
        }
        for number, url in enumerate(urls)
    ]
    return {
        "doi": doi,
        "data_standard": 2,
        "is_oa": bool(places),
        "oa_status": "gold" if places else "closed",
        "best_oa_location": places[0] if places else None,
        "oa_locations": places,
    }


def crossref(doi: str, urls: Urls) -> Any:
    """A message of the type `work`; the version of record is not the first of its links."""
    links = [
        {
            "URL": url,
            "content-type": "application/pdf",
            "content-version": "vor" if number == 0 else "am",
            "intended-application": "text-mining",
        }
        for number, url in enumerate(urls)
    ]
    xml = {
        "URL": "https://journal.example/full.xml",
        "content-type": "text/xml",
        "content-version": "vor",
        "intended-application": "text-mining",
    }
    license_ = {"URL": "https://creativecommons.org/licenses/by/4.0/", "content-version": "vor"}
    message = {"DOI": doi, "title": ["On nothing"], "link": [xml, *reversed(links)]}
    return {"status": "ok", "message-type": "work", "message": {**message, "license": [license_]}}


def openalex(doi: str, urls: Urls) -> Any:
    """A work with the fields that were selected; its closed location comes first."""
    free = [
        {
            "is_oa": True,
            "landing_page_url": f"https://doi.org/{doi}",
            "pdf_url": url,
            "license": "cc-by",
            "version": "publishedVersion",
            "source": {"id": "https://openalex.org/S1", "display_name": "An Archive"},
        }
        for url in urls
    ]
    closed = {"is_oa": False, "landing_page_url": "https://paid.example/a", "pdf_url": None}
    return {
        "id": "https://openalex.org/W1",
        "doi": f"https://doi.org/{doi}",
        "best_oa_location": free[0] if free else None,
        "locations": [closed, *free],
    }


def europe_pmc(doi: str, urls: Urls) -> Any:
    """A search result of the type `core`; a subscriber's link stands before the open ones."""
    places = [
        {
            "availability": "Open access",
            "availabilityCode": "OA",
            "documentStyle": "pdf",
            "site": "Europe_PMC",
            "url": url,
        }
        for url in urls
    ]
    paid = {
        "availability": "Subscription required",
        "availabilityCode": "S",
        "documentStyle": "pdf",
        "site": "DOI",
        "url": "https://paid.example/a.pdf",
    }
    page = {**paid, "availabilityCode": "F", "documentStyle": "html"}
    result: dict[str, Any] = {
        "id": "1",
        "source": "MED",
        "pmcid": "PMC5555",
        "doi": doi,
        "license": "cc by",
    }
    result = {**result, "fullTextUrlList": {"fullTextUrl": [paid, page, *places]}}
    return {"version": "6.9", "hitCount": 1, "resultList": {"result": [result]}}


def core(doi: str, urls: Urls) -> Any:
    """A search result; a work without a file has an empty `downloadUrl`."""
    work = {
        "id": 5555,
        "doi": doi.upper(),
        "downloadUrl": urls[0] if urls else "",
        "links": [
            {"type": "display", "url": "https://core.ac.uk/works/5555"},
            *({"type": "download", "url": url} for url in urls[:1]),
        ],
        "sourceFulltextUrls": [*urls, "https://repository.example/handle/1"],
    }
    return {"totalHits": 1, "limit": 5, "offset": 0, "results": [work]}


def doaj(doi: str, urls: Urls) -> Any:
    """Articles with their links; the usual link is a page."""
    page = {"type": "fulltext", "content_type": "HTML", "url": "https://journal.example/article/1"}
    links = [{"type": "fulltext", "content_type": "PDF", "url": url} for url in urls]
    bibjson = {
        "title": "On nothing",
        "identifier": [{"type": "eissn", "id": "0000-0000"}, {"type": "doi", "id": doi}],
        "link": [page, *links],
    }
    return {"total": 1, "page": 1, "pageSize": 5, "results": [{"id": "a1", "bibjson": bibjson}]}


def semantic_scholar(doi: str, urls: Urls) -> Any:
    """A paper; without an open PDF the field is null."""
    pdf = {"url": urls[0], "status": "GOLD", "license": "CCBY"} if urls else None
    paper = {"paperId": "0" * 40, "externalIds": {"DOI": doi}, "isOpenAccess": bool(urls)}
    return {**paper, "openAccessPdf": pdf}


def zenodo(doi: str, urls: Urls) -> Any:
    """Hits with files, of which only some are PDFs."""
    files = [
        {
            "id": f"f{number}",
            "key": f"paper-{number}.pdf",
            "size": 5555,
            "checksum": f"md5:{digest('md5', url)}",
            "links": {"self": url},
        }
        for number, url in enumerate(urls)
    ]
    data = {
        "id": "d",
        "key": "data.csv",
        "checksum": "md5:1",
        "links": {"self": "https://d.example/d"},
    }
    record = {
        "id": 5555,
        "doi": doi,
        "conceptdoi": f"{doi}0",
        "metadata": {"title": "On nothing", "access_right": "open", "license": {"id": "cc-by-4.0"}},
        "files": [data, *files],
    }
    return {"hits": {"hits": [record], "total": 1}, "links": {}}


def osf(doi: str, urls: Urls) -> Any:
    """A preprint with its main file embedded."""
    links = {"download": urls[0]} if urls else {}
    hashes = {name: digest(name, urls[0] if urls else "") for name in ("md5", "sha256")}
    attributes = {"name": "paper.pdf", "extra": {"hashes": hashes}}
    file = {"data": {"id": "f", "type": "files", "attributes": attributes, "links": links}}
    preprint = {"id": "found", "type": "preprints", "attributes": {"title": "On nothing"}}
    return {"data": {**preprint, "embeds": {"primary_file": file}, "links": {}}}


def hal(doi: str, urls: Urls) -> Any:
    """Documents of a search; one without a file lacks the fields for it."""
    document: dict[str, Any] = {
        "halId_s": "hal-05555",
        "doiId_s": doi,
        "uri_s": "https://hal.example/hal-05555",
    }
    if urls:
        document |= {"fileMain_s": urls[0], "files_s": [*urls, "https://hal.example/data.zip"]}
    return {"response": {"numFound": 1, "start": 0, "docs": [document]}}


def figshare_article(urls: Urls) -> Any:
    """An article with its files, the second answer."""
    files = [
        {
            "id": number,
            "name": f"paper-{number}.pdf",
            "size": 5555,
            "is_link_only": False,
            "download_url": url,
            "computed_md5": digest("md5", url),
            "mimetype": "application/pdf",
        }
        for number, url in enumerate(urls)
    ]
    table = {
        "id": 99,
        "name": "data.csv",
        "is_link_only": False,
        "download_url": "https://d.example/d",
    }
    return {"id": 5555, "license": {"value": 1, "name": "CC BY 4.0"}, "files": [table, *files]}


def openaire(doi: str, urls: Urls) -> Any:
    """Products with their copies, of which one is closed."""
    closed = {"urls": ["https://paid.example/a.pdf"], "accessRight": {"label": "CLOSED"}}
    copies = [
        {"urls": [url], "accessRight": {"code": "c_abf2", "label": "OPEN"}, "license": "CC BY"}
        for url in urls
    ]
    pids = [{"scheme": "doi", "value": doi}]
    product = {"id": "doi_dedup___::1", "pids": pids, "instances": [closed, *copies]}
    return {"header": {"numFound": 1, "pageSize": 5}, "results": [product]}


SERVICES = {
    "unpaywall": Service(unpaywall),
    "crossref": Service(crossref),
    "openalex": Service(openalex),
    "europe_pmc": Service(europe_pmc, {"hitCount": 0, "resultList": {"result": []}}),
    "core": Service(core, {"totalHits": 0, "results": []}),
    "doaj": Service(doaj, {"total": 0, "results": []}),
    "semantic_scholar": Service(semantic_scholar),
    "zenodo": Service(zenodo, {"hits": {"hits": [], "total": 0}}),
    "osf": Service(osf),
    "hal": Service(hal, {"response": {"numFound": 0, "docs": []}}),
    "openaire": Service(openaire, {"header": {"numFound": 0}, "results": []}),
}
"""Those that answer one question with one reply."""
