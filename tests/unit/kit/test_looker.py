"""The Looker server of the tests is accepted by Looker's own client, and fails when told to."""

import http.client
import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode

import pytest

from tests.kit import looker_client
from tests.kit.looker import API, LookerServer
from tests.kit.looker_client import LookerClient, LookerRefused
from tests.kit.looker_content import KINDS, LISTED
from tests.kit.source_faults import at_request, failing, limiting, refusing

ROWS = 25
SEARCHES = {
    "dashboards": ("search_dashboards", "Dashboard"),
    "looks": ("search_looks", "Look"),
    "lookml_models": ("all_lookml_models", "LookmlModel"),
    "folders": ("search_folders", "Folder"),
    "users": ("search_users", "User"),
    "groups": ("search_groups", "Group"),
    "roles": ("search_roles", "Role"),
    "boards": ("search_boards", "Board"),
    "permission_sets": ("search_permission_sets", "PermissionSet"),
    "model_sets": ("search_model_sets", "ModelSet"),
    "scheduled_plans": ("search_scheduled_plans", "ScheduledPlan"),
}
"""The method of Looker's client for each kind that has a listing, and the model that it makes."""
ALL = {"scheduled_plans": {"all_users": True}}
TIMED = {"dashboards", "looks", "boards", "scheduled_plans"}
"""The kinds whose rows say when they were changed."""


class Caller:
    """A client with one token, as simple as can be."""

    def __init__(self, server: LookerServer) -> None:
        self._server = server
        self.token = self.login().get("access_token", "")

    def login(self, secret: str = LookerServer.client_secret):
        body = urlencode({"client_id": self._server.client_id, "client_secret": secret})
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        return json.loads(self._send("POST", "/login", body, form)[2])

    def get(self, path: str, **query: object):
        """The status, the headers and the value."""
        target = f"{path}?{urlencode(query)}" if query else path
        status, headers, body = self._send("GET", target, None, self._authorization)
        return status, headers, json.loads(body) if status == 200 else body

    @property
    def _authorization(self) -> dict[str, str]:
        return {"Authorization": f"token {self.token}"}

    def _send(self, method, path, body, headers):
        connection = http.client.HTTPConnection("127.0.0.1", self._server.port, timeout=10)
        try:
            connection.request(method, API + path, body, headers)
            reply = connection.getresponse()
            return reply.status, reply.headers, reply.read()
        finally:
            connection.close()


@pytest.fixture
def server() -> Iterator[LookerServer]:
    with LookerServer(ROWS) as server:
        yield server


@pytest.fixture(scope="module")
def asked() -> Iterator[LookerServer]:
    """One server for all that only ask, since Looker's client takes a second to start."""
    with LookerServer(ROWS) as server:
        yield server


@pytest.fixture(scope="module")
def sdk(asked: LookerServer) -> Iterator[LookerClient]:
    LookerClient.need()
    with LookerClient(asked.environment) as client:
        yield client


# ---- Looker's own client judges -------------------------------------------------------------


def test_the_client_has_a_method_for_each_listing():
    assert SEARCHES.keys() == set(LISTED)
    assert len(KINDS) == 12


@pytest.mark.slow
@pytest.mark.parametrize("kind", SEARCHES)
def test_the_client_reads_every_row_of_a_kind_page_by_page(kind, asked, sdk):
    method, model = SEARCHES[kind]
    found = []
    for offset in range(0, ROWS + 10, 10):
        page = sdk.call(method, limit=10, offset=offset, **ALL.get(kind, {}))
        found += page.value
        assert page.type == (model if offset < ROWS else "list")
        assert ("updated_at" in page.times) == (kind in TIMED and offset < ROWS)
    key = KINDS[kind].key
    assert [row[key] for row in found] == [row[key] for row in asked.rows(kind)]
    for row, truth in zip(found, asked.rows(kind), strict=True):
        lost = truth.keys() - row.keys()
        assert all(truth[name] is None for name in lost), f"the client does not know {lost}"


@pytest.mark.slow
def test_the_client_reads_every_explore_by_the_names_in_its_model(asked, sdk):
    found = [
        sdk.call(
            "lookml_model_explore", lookml_model_name=model["name"], explore_name=explore["name"]
        )
        for model in sdk.call("all_lookml_models").value
        for explore in model["explores"]
    ]
    assert {each.type for each in found} == {"LookmlModelExplore"}
    assert {each.value["id"] for each in found} == {row["id"] for row in asked.rows("explores")}


@pytest.mark.slow
def test_the_client_reads_a_single_dashboard_and_look(asked, sdk):
    assert sdk.call("dashboard", dashboard_id="7").value["title"] == "Dashboard 7"
    assert sdk.call("look", look_id="7").value["title"] == "Look 7"


@pytest.mark.slow
def test_the_client_takes_the_fields_and_the_order_that_it_asks_for(asked, sdk):
    page = sdk.call("search_looks", limit=3, sorts="updated_at desc,id", fields="id,updated_at")
    assert {frozenset(row) for row in page.value} == {frozenset({"id", "updated_at"})}
    rows = sorted(asked.rows("looks"), key=lambda row: row["updated_at"], reverse=True)
    assert [row["id"] for row in page.value] == [row["id"] for row in rows[:3]]


@pytest.mark.slow
def test_the_client_reads_an_error(sdk):
    with pytest.raises(LookerRefused, match="updated_at is not a field to sort by"):
        sdk.call("search_dashboards", limit=3, sorts="updated_at")
    with pytest.raises(LookerRefused, match="Not found"):
        sdk.call("dashboard", dashboard_id="none")


@pytest.mark.slow
def test_the_client_logs_in_once_for_all_its_calls(asked, sdk):
    sdk.call("search_looks", limit=1)
    before = asked.logins
    sdk.call("search_looks", limit=1)
    assert asked.logins == before


@pytest.mark.slow
def test_a_wrong_secret_is_refused(server):
    LookerClient.need()
    wrong = {**server.environment, "LOOKERSDK_CLIENT_SECRET": "wrong"}
    with LookerClient(wrong) as client, pytest.raises(LookerRefused, match="Not found"):
        client.call("search_looks", limit=1)


def test_a_missing_client_skips_on_a_laptop_and_fails_in_ci(monkeypatch, tmp_path):
    monkeypatch.setattr(looker_client, "FOLDER", tmp_path)
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="make services"):
        LookerClient.need()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="make services"):
        LookerClient.need()


# ---- paging ---------------------------------------------------------------------------------


def test_totals_and_links_come_with_a_limit_only(server):
    caller = Caller(server)
    _, headers, page = caller.get("/looks/search", limit=10, offset=10, sorts="id")
    assert [row["id"] for row in page] == [str(number) for number in range(11, 21)]
    assert headers["X-Total-Count"] == str(ROWS)
    links = re.findall(r'offset=(\d+)[^>]*>; rel="(\w+)"', headers["Link"])
    assert set(links) == {("0", "first"), ("0", "prev"), ("20", "next"), ("20", "last")}
    _, headers, page = caller.get("/looks/search")
    assert len(page) == ROWS
    assert "X-Total-Count" not in headers
    assert "Link" not in headers


def test_a_server_may_keep_its_totals_to_itself():
    with LookerServer(ROWS, totals=False) as server:
        _, headers, page = Caller(server).get("/looks/search", limit=10)
    assert len(page) == 10
    assert "X-Total-Count" not in headers


def test_a_page_beyond_the_end_is_empty(server):
    status, headers, page = Caller(server).get("/looks/search", limit=10, offset=100)
    assert (status, headers["X-Total-Count"], page) == (200, str(ROWS), [])


def test_plans_of_others_are_listed_only_if_all_are_asked_for(server):
    caller = Caller(server)
    _, headers, own = caller.get("/scheduled_plans/search", limit=100)
    _, _, every = caller.get("/scheduled_plans/search", limit=100, all_users="true")
    assert {row["user_id"] for row in own} == {"1"}
    assert headers["X-Total-Count"] == str(len(own))
    assert every == server.rows("scheduled_plans")
    assert len(own) < len(every)


@pytest.mark.parametrize(
    "query",
    [{"page": 1}, {"updated_at": "x"}, {"limit": 0}, {"limit": 5, "offset": -1}, {"limit": "x"}],
)
def test_what_looker_does_not_know_is_refused(server, query):
    assert Caller(server).get("/dashboards/search", **query)[0] == 422


def test_models_cannot_be_sorted(server):
    assert Caller(server).get("/lookml_models", sorts="name")[0] == 422


def test_rows_that_change_are_seen_by_the_next_request(server):
    caller = Caller(server)
    server.remove("looks", "1")
    server.put("looks", {**KINDS["looks"].make(2), "title": "New"}, KINDS["looks"].make(99))
    _, headers, page = caller.get("/looks/search", limit=100, sorts="id")
    assert page == server.rows("looks")
    assert [page[0]["title"], page[-1]["id"]] == ["New", "99"]
    assert headers["X-Total-Count"] == str(ROWS)


# ---- faults ---------------------------------------------------------------------------------


def test_a_token_can_expire_in_the_middle(server):
    caller = Caller(server)
    server.faults.append(at_request(3, server.expire_tokens))
    assert [caller.get("/looks/search", limit=1)[0] for _ in range(4)] == [200, 200, 401, 401]
    caller.token = caller.login()["access_token"]
    assert caller.get("/looks/search", limit=1)[0] == 200
    assert server.logins == 2


def test_nothing_is_read_without_a_token(server):
    caller = Caller(server)
    caller.token = "invented"
    assert caller.get("/looks/search", limit=1)[0] == 401


def test_rows_can_change_between_two_pages(server):
    caller = Caller(server)
    server.faults.append(at_request(2, lambda: server.remove("looks", "1")))
    pages = [caller.get("/looks/search", limit=10, offset=n, sorts="id")[2] for n in (0, 10)]
    assert [pages[0][-1]["id"], pages[1][0]["id"]] == ["10", "12"]  # 11 has slipped through


def test_a_storm_of_refusals_ends(server):
    caller = Caller(server)
    server.faults.append(refusing(3, "2"))
    replies = [caller.get("/looks/search", limit=1) for _ in range(4)]
    assert [status for status, _, _ in replies] == [429, 429, 429, 200]
    assert replies[0][1]["Retry-After"] == "2"


def test_requests_that_are_too_many_are_refused(server):
    caller = Caller(server)
    server.faults.append(limiting(0.001, burst=2))
    assert [caller.get("/looks/search", limit=1)[0] for _ in range(3)] == [200, 200, 429]


def test_a_page_fails_until_it_is_healed(server):
    caller = Caller(server)
    server.faults.append(failing("offset=10"))
    pages = [{"limit": 10, "offset": offset} for offset in (0, 10, 10)]
    assert [caller.get("/looks/search", **page)[0] for page in pages] == [200, 500, 500]
    server.faults.clear()
    assert caller.get("/looks/search", limit=10, offset=10)[0] == 200


def test_latency_holds_for_each_answer_and_not_for_all_together(server):
    caller = Caller(server)
    server.delay_s = 0.5
    with ThreadPoolExecutor(8) as lanes:
        asked = [lanes.submit(caller.get, "/looks/search", limit=1) for _ in range(8)]
        assert {each.result()[0] for each in asked} == {200}
    late = [seen for seen in server.seen if seen.request.method == "GET"]
    assert all(seen.ended_s - seen.arrived_s >= 0.5 for seen in late)
    assert server.overlap(f"127.0.0.1:{server.port}") > 1
