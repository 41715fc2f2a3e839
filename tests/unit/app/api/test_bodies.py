"""Limits are declared beside the endpoints, and the room for bodies is shared."""

import pytest
from fastapi.routing import APIRoute

from headgate.app.api.application import ROUTERS
from headgate.app.api.bodies import KB, MB, BoundedRoute, limit_of, needs_identity
from headgate.app.api.capacity import BodyMemory
from headgate.app.api.job_request import fields_in
from headgate.app.api.problems import ProblemResponse

ROUTES = [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]
WITH_BODY = [route for route in ROUTES if route.body_field is not None]
LARGER = {"/api/jobs": 16 * MB, "/api/queues/{name}/items": 16 * MB}


def test_every_endpoint_with_a_body_bounds_it():
    assert len(WITH_BODY) > 10
    assert all(isinstance(route, BoundedRoute) for route in WITH_BODY)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{min(route.methods)} {route.path}")
def test_no_endpoint_accepts_a_larger_body_than_it_needs(route: APIRoute):
    usual = 4 * KB if route.path == "/api/login" else MB
    most = LARGER.get(route.path, usual) if "POST" in (route.methods or ()) else MB
    values = 1_000_000 if most > MB else 25_000
    assert limit_of(route.endpoint) == (most, values)


def test_only_a_login_reads_a_body_before_authentication():
    open_to_all = [route.path for route in WITH_BODY if not needs_identity(route.dependant)]
    assert open_to_all == ["/api/login"]


def test_a_user_gets_a_quarter_of_the_memory_for_bodies():
    room = BodyMemory(100)
    room.take("ann", 25)
    with pytest.raises(ProblemResponse) as refused:
        room.take("ann", 1)
    assert refused.value.status == 429
    room.free("ann", 25)
    room.take("ann", 25)


def test_all_users_together_stay_within_the_memory_for_bodies():
    room = BodyMemory(100)
    for name in ("ann", "bob", "cid", "dan"):
        room.take(name, 25)
    with pytest.raises(ProblemResponse) as refused:
        room.take("eve", 1)
    assert refused.value.status == 503
    room.free("bob", 25)
    room.take("eve", 25)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"[]", 422),
        (b"1", 422),
        (b"{", 400),
        (b"[" * 100_000, 400),
        (b'{"items": {}}', 422),
        (b'{"items": [1, 2, 3]}', 422),
        (b'{"config": "' + b"x" * 70_000 + b'"}', 413),
    ],
    ids=range(7),
)
def test_a_field_is_not_decoded_before_its_size_is_known(body: bytes, status: int):
    with pytest.raises(ProblemResponse) as refused:
        fields_in(bytearray(body), most_items=2)
    assert refused.value.status == status


def test_fields_within_their_bounds_are_what_was_sent():
    found = fields_in(bytearray(b' {"items": [{"a": [1]}], "config": {"b": null}, "x": 1}'), 2)
    assert found == {"items": [{"a": [1]}], "config": {"b": None}, "x": 1}
