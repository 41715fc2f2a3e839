"""What admins do: providers, workers, users and tokens."""

from typing import Any

from headgate.client.errors import UserNotFound
from headgate.client.transport import ApiRequest, Transport, as_json, segment
from headgate.client.values import params
from headgate.core.user import Role
from headgate.schema.access import NewTokenView, TokenView, UserView
from headgate.schema.gates import GateList
from headgate.schema.system import WorkerView
from headgate.schema.values import Listed


class ProvidersClient:
    """For admins only."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    async def ls(self, which: str = "used") -> GateList:
        """The gates that were `used`; also of `declared` providers; or `all` known gates."""
        ask = ApiRequest(path="/api/providers", params=params(which=which))
        return await self._wire.value(ask, GateList)

    async def get(self, name: str) -> GateList:
        """The gates of a provider, a credential, a host or a key, with their evidence."""
        return await self._wire.value(ApiRequest(path=_provider(name)), GateList)

    async def set_rate(self, name: str, rate: str, for_s: float | None = None) -> GateList:
        """Override the learned rate with `5/s` or `100/min`, for `for_s` seconds or without end."""
        return await self._change(name, rate=rate, forS=for_s)

    async def pause(self, name: str, for_s: float | None = None) -> GateList:
        """Send nothing more, for `for_s` seconds or until `resume`."""
        return await self._change(name, paused=True, forS=for_s)

    async def resume(self, name: str) -> GateList:
        """Continue with the learned rate."""
        return await self._change(name, paused=False)

    async def forget(self, name: str) -> GateList:
        """Drop the learned rate and learn it again."""
        return await self._change(name, forget=True)

    async def _change(self, name: str, **change: str | bool | float | None) -> GateList:
        body, headers = as_json({key: value for key, value in change.items() if value is not None})
        ask = ApiRequest(method="PATCH", path=_provider(name), body=body, headers=headers)
        return await self._wire.value(ask, GateList)


def _provider(name: str) -> str:
    return f"/api/providers/{segment(name)}"


class WorkersClient:
    """For admins only."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    async def ls(self, *, everybody: bool = False) -> list[WorkerView]:
        """Workers, newest first; with `everybody` also stopped ones."""
        ask = ApiRequest(path="/api/workers", params=params(all=everybody))
        return (await self._wire.value(ask, Listed[WorkerView])).items

    async def drain(self, worker_id: str) -> WorkerView:
        """Let a worker finish its items, take no more, and end."""
        path = f"/api/workers/{segment(worker_id)}/drain"
        return await self._wire.value(ApiRequest(method="POST", path=path), WorkerView)


class UsersClient:
    """For admins only."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    async def ls(self) -> list[UserView]:
        return (await self._wire.value(ApiRequest(path="/api/users"), Listed[UserView])).items

    async def add(self, name: str, role: Role = Role.USER, password: str | None = None) -> UserView:
        """Make a user; without a password, the user can log in only with tokens."""
        body = {"name": name, "role": role, "password": password}
        return await self._wire.value(_request("POST", "/api/users", body), UserView)

    async def change(
        self, name: str, *, role: Role | None = None, password: str | None = None
    ) -> UserView:
        return await self._change(name, {"role": role, "password": password})

    async def disable(self, name: str) -> UserView:
        """Stop a user from logging in; the user's jobs stay."""
        return await self._change(name, {"disabled": True})

    async def enable(self, name: str) -> UserView:
        """Let a disabled user log in again; the old tokens stay revoked."""
        return await self._change(name, {"disabled": False})

    async def _change(self, name: str, body: dict[str, Any]) -> UserView:
        asked = _request("PATCH", f"/api/users/{segment(name)}", body)
        return await self._wire.value(asked, UserView)


class TokensClient:
    """Tokens of this user; admins see the tokens of all users."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    async def ls(self) -> list[TokenView]:
        """The tokens that are neither revoked nor expired."""
        return (await self._wire.value(ApiRequest(path="/api/tokens"), Listed[TokenView])).items

    async def add(
        self,
        user: str | None = None,
        *,
        label: str = "",
        role: Role | None = None,
        expires_in_s: float | None = None,
    ) -> NewTokenView:
        """Make a token for this user or (admins) for another; its secret is returned only once."""
        body = {"user": user, "label": label, "role": role, "expiresInS": expires_in_s}
        return await self._wire.value(_request("POST", "/api/tokens", body), NewTokenView)

    async def revoke(self, token_id: str) -> None:
        await self._wire.done(ApiRequest(method="DELETE", path=f"/api/tokens/{segment(token_id)}"))


def _request(method: str, path: str, body: dict[str, Any]) -> ApiRequest:
    content, headers = as_json({name: value for name, value in body.items() if value is not None})
    return ApiRequest(method=method, path=path, body=content, headers=headers, absent=UserNotFound)
