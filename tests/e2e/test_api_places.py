"""Sources in far places, named in a request or looked for by the server."""

from collections.abc import Iterator
from contextlib import ExitStack
from urllib.parse import quote

import pytest

from tests.kit import place_sites
from tests.kit.api_server import ApiServer, Caller, rows_csv
from tests.kit.files import FileServer
from tests.kit.ftp import FtpServer
from tests.kit.place_sites import PlaceSite
from tests.kit.s3 import S3Server, forget_keys
from tests.kit.sftp import SftpServer


@pytest.fixture(scope="module")
def far() -> Iterator[dict[str, PlaceSite]]:
    """One of each kind, with a folder that is watched."""
    with ExitStack() as stack:
        ftp, sftp = stack.enter_context(FtpServer()), stack.enter_context(SftpServer())
        s3, http = stack.enter_context(S3Server()), stack.enter_context(FileServer())
        made = (
            place_sites.over_ftp(ftp),
            place_sites.over_sftp(sftp),
            place_sites.over_s3(s3),
            place_sites.over_http(http),
        )
        yield {site.kind: site for site in made}


@pytest.fixture(scope="module")
def api(far: dict[str, PlaceSite], tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    s3, sftp = far["s3"], far["sftp"]
    watched = [f"shop.price={far[kind].url('x')[:-1]}new-*.csv" for kind in ("ftp", "sftp", "s3")]
    settings = {
        "log__level": "info",  # the log must keep a secret too
        "places__allow_private": "true",
        "server__watch": ",".join(watched),
        "server__watch_settle_s": "0",
        "places__s3_endpoint": s3.settings.s3_endpoint,
        "places__s3_region": s3.settings.s3_region,
        "places__s3_buckets": "*",
        "places__sftp_known_hosts": sftp.settings.sftp_known_hosts,
        "places__sftp_key_file": sftp.settings.sftp_key_file,
    }
    with pytest.MonkeyPatch.context() as patch:
        forget_keys(patch)
        assert isinstance(s3.server, S3Server)
        for name, value in s3.server.keys.items():
            patch.setenv(name, value)
        with ApiServer(tmp_path_factory.mktemp("far"), **settings) as server:
            yield server


@pytest.fixture
def admin(api: ApiServer) -> Caller:
    return api.admin()


@pytest.mark.parametrize("kind", ["ftp", "sftp", "s3", "http"])
def test_a_remote_file_becomes_a_job(admin: Caller, far: dict[str, PlaceSite], kind: str):
    far[kind].put("named.csv", rows_csv(30))
    asked = {"handler": "shop.price", "key": "id", "source": far[kind].url("named.csv")}
    looked = admin.post("/api/preview", asked).ok()
    assert (looked["columns"], len(looked["rows"])) == (["id", "name", "do"], 20)
    made = admin.post("/api/jobs", asked).ok(202)["jobId"]
    assert admin.ended(made)["counts"]["done"] == 30
    far[kind].remove("named.csv")
    admin.post("/api/preview", asked).refused(422, "named.csv")
    gone = admin.ended(admin.post("/api/jobs", asked).ok(202)["jobId"])
    assert (gone["state"], gone["counts"]["total"]) == ("FAILED", 0)
    assert "named.csv" in gone["lastError"]


def test_each_new_remote_file_becomes_one_job(admin: Caller, far: dict[str, PlaceSite]):
    for number, kind in enumerate(("ftp", "sftp", "s3"), 1):
        far[kind].put(f"new-{kind}.csv", rows_csv(number))
        far[kind].put("other.csv", rows_csv(9))
    scan = admin.post("/api/ingestion/scan").ok()
    assert scan["problems"] == []
    totals = [admin.ended(job["jobId"])["counts"]["total"] for job in scan["jobs"]]
    assert sorted(totals) == [1, 2, 3]
    again = admin.post("/api/ingestion/scan").ok()
    assert (again["jobs"], again["known"], again["problems"]) == ([], 3, [])


LATIN = "id,name,do\n1,Äpfel,\n2,corn,\n".encode("cp1252")


def test_a_remote_file_in_another_encoding_fails_with_the_one_that_fits(
    admin: Caller, far: dict[str, PlaceSite]
):
    far["http"].put("latin.csv", LATIN)
    asked = {"handler": "shop.price", "key": "id", "source": far["http"].url("latin.csv")}
    failed = admin.ended(admin.post("/api/jobs", asked).ok(202)["jobId"])
    assert (failed["state"], failed["counts"]["total"]) == ("FAILED", 0)
    assert "is not in UTF-8, but can be read as cp1252" in failed["lastError"]
    stated = {**asked, "read": {"encoding": "cp1252"}}
    assert admin.ended(admin.post("/api/jobs", stated).ok(202)["jobId"])["counts"]["done"] == 2


def test_a_watched_file_in_another_encoding_keeps_the_rows_that_can_be_read(
    admin: Caller, far: dict[str, PlaceSite]
):
    """There is no request that could state its encoding."""
    far["ftp"].put("new-latin.csv", LATIN)
    (made,) = admin.post("/api/ingestion/scan").ok()["jobs"]
    counts = admin.ended(made["jobId"])["counts"]
    far["ftp"].remove("new-latin.csv")
    assert (counts["done"], counts["error"]) == (1, 1)


def test_a_password_in_a_source_is_shown_nowhere(
    admin: Caller, api: ApiServer, far: dict[str, PlaceSite]
):
    server = far["ftp"].server
    assert isinstance(server, FtpServer)
    source = server.url("in/nothing.csv")
    secret = quote(server.password, safe="")
    assert secret in source
    made = admin.post("/api/jobs", {"handler": "shop.price", "source": source}).ok(202)["jobId"]
    admin.ended(made)
    shown = [admin.get(path).body for path in (f"/api/jobs/{made}", "/api/jobs", "/api/events/log")]
    shown.append(api.talk.encode())
    assert all(b"nothing.csv" in text for text in shown[:2])
    assert not any(secret.encode() in text or server.password.encode() in text for text in shown)
