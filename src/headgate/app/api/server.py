"""The server: the API, the child processes, and the first admin token."""

import asyncio
import ipaddress
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import Any

import msgspec
import uvicorn

from headgate.app.api.application import build_app
from headgate.app.api.capacity import BodyMemory, SlotQueue, StreamSlots, Threads
from headgate.app.api.connections import BACKLOG, ParsingTurns, ServerConnections, most_connections
from headgate.app.api.job_readings import HistorySamples, LimitCache
from headgate.app.api.kickoff import Kickoffs
from headgate.app.api.monitor import Monitor, SlowJobs
from headgate.app.api.protocol import BoundedProtocol
from headgate.app.api.state import AppState
from headgate.app.credentials import Minted, new_token
from headgate.app.data_folder import data_folder
from headgate.app.handler_list import list_handlers
from headgate.app.loops import Loops, Sign
from headgate.app.processes.children import ChildProcesses
from headgate.app.processes.inspections import Inspections
from headgate.app.scanner import Scanner
from headgate.app.settings import Settings
from headgate.app.telemetry import logger
from headgate.core.errors import BadSetting, HeadgateError, NameTaken, WorkerFailed
from headgate.core.job import LOCAL_OWNER
from headgate.core.user import Role, TokenKind
from headgate.ports.access import AccessStore, NewToken, NewUser
from headgate.ports.clock import Clock
from headgate.ports.store import Store

MEGABYTE = 1_048_576
SWITCH_S = 0.001
"""Interpreter switch interval in seconds: a thread that parses lets the event loop continue."""
LINK_S = 900.0
"""Seconds that the login link is valid."""
RENEWED_S = 60.0
"""Seconds that the server's token stays valid after the server was killed."""
RENEW_EVERY_S = 10.0
LOGINS, LOGINS_PER_ADDRESS = 2, 1
"""Password logins that are checked at the same time, in total and per address. Accounts that have
logged in from their address before have as many again. More would wait for the threads that check
passwords, and there a known address would have to wait for all others."""


class OpenedServer(msgspec.Struct, frozen=True):
    url: str
    token: str
    """An admin's token, valid while the server runs."""
    link: str
    """A login link for a browser. It works once."""


class ApiServer:
    def __init__(self, store: Store, settings: Settings, clock: Clock) -> None:
        self._store = store
        # Rows come from users here, and with them the addresses that handlers request.
        net = msgspec.structs.replace(settings.net, guard_all=True)
        self._settings = settings = msgspec.structs.replace(settings, net=net)
        self._clock = clock
        self._loops = Loops(clock)
        self._children = ChildProcesses(settings, self._loops)
        self._uvicorn: uvicorn.Server | None = None
        self._stops = 0

    def stop(self) -> None:
        """On the first call, finish running items; on the second, return them at once."""
        self._stops += 1
        if self._stops > 1:
            self._children.stop_now()
        if self._uvicorn is not None:
            self._uvicorn.should_exit = True

    async def run(self, opened: Callable[[OpenedServer], None]) -> None:
        """Serve until stopped. `opened` is called once requests are answered."""
        sys.setswitchinterval(SWITCH_S)
        await self._require_users()
        listener = _listen(self._settings.server.host, self._settings.server.port)
        own = new_token()
        app_state = await self._app_state(own.id if is_loopback(self._settings.server.host) else "")
        async with self._first_token(own) as (token, link), self._running(app_state, own.id):
            await self._answer(app_state, listener, lambda url: opened(_opened(url, token, link)))

    @asynccontextmanager
    async def _running(self, app_state: AppState, token_id: str) -> AsyncIterator[None]:
        """Run everything beside the API, each part under its name."""
        access, clock = self._store.access, self._clock
        self._loops.start("server token", partial(keep_token, access, token_id, clock))
        self._loops.start("health readings", app_state.monitor.run)
        self._loops.start("job histories", app_state.history_samples.run)
        self._children.start()
        try:
            yield
        finally:
            await app_state.inspections.stop()
            await self._loops.stop()
            await self._children.stop()

    async def _answer(
        self, app_state: AppState, listener: socket.socket, opened: Callable[[str], None]
    ) -> None:
        policy = self._settings.server
        connections = ServerConnections(most_connections(policy), policy.connections_per_address)
        protocol = partial(BoundedProtocol, connections, ParsingTurns(), policy.head_s)
        config = uvicorn.Config(
            build_app(app_state),
            lifespan="off",
            http=protocol,  # type: ignore[arg-type]
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=5,
            backlog=BACKLOG,
        )
        server = self._uvicorn = _Uvicorn(config)
        serving = asyncio.ensure_future(server.serve([listener]))
        while not server.started and not serving.done():
            await self._clock.sleep(0.01)
        if not serving.done():
            opened(_url(self._settings.server.host, listener))
        if self._stops:
            server.should_exit = True
        await serving
        if not self._stops:
            raise WorkerFailed("the web server stopped unexpectedly; start it again")

    async def _app_state(self, own_token: str) -> AppState:
        store, settings, clock = self._store, self._settings, self._clock
        policy = settings.server
        folder = data_folder(settings)
        folder.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        handlers = await list_handlers(settings.handlers)
        limits = settings.gate_limits
        limit_cache = LimitCache(
            store, limits, clock, {each.name: each.provider or "" for each in handlers}
        )
        return AppState(
            store=store,
            settings=settings,
            clock=clock,
            folder=folder,
            handlers=handlers,
            monitor=Monitor(
                store, clock, SlowJobs(store, limit_cache, clock, settings.worker.concurrency)
            ),
            limit_cache=limit_cache,
            history_samples=HistorySamples(store, limit_cache, clock),
            slices=Kickoffs(store, settings, clock),
            scanner=Scanner(store, settings, clock),
            logins=SlotQueue(LOGINS, LOGINS_PER_ADDRESS),
            known_logins=SlotQueue(LOGINS, LOGINS_PER_ADDRESS),
            uploads=SlotQueue(policy.uploads_at_once, policy.uploads_per_user),
            previews=SlotQueue(policy.previews_at_once, policy.previews_per_user),
            preview_copies=SlotQueue(policy.previews_at_once, policy.previews_per_user),
            inspections=Inspections(),
            room=BodyMemory(policy.bodies_mb * MEGABYTE),
            threads=Threads(policy.previews_at_once),
            own_token=own_token,
            loops=self._loops,
            streams=StreamSlots(policy.streams_per_user),
        )

    async def _require_users(self) -> None:
        """Refuse to listen on the network while no account exists."""
        if is_loopback(self._settings.server.host):
            return
        access = self._store.access
        for user in await access.users():
            known = user.has_password or await access.tokens(user.name)
            if user.name != LOCAL_OWNER and user.disabled_at is None and known:
                return
        raise BadSetting(
            f"{self._settings.server.host} is reachable from other machines, and no account"
            " exists; create one first: `headgate users add NAME --role admin`"
        )

    @asynccontextmanager
    async def _first_token(self, token: Minted) -> AsyncIterator[tuple[str, str]]:
        """Yield an admin's token that is valid while the server runs, and a login link."""
        access = self._store.access
        with suppress(NameTaken):
            await access.add_user(NewUser(LOCAL_OWNER, Role.ADMIN))
        link = new_token()
        await access.add_token(_for_owner(token, TokenKind.API, renewed_s=RENEWED_S))
        await access.add_token(_for_owner(link, TokenKind.LINK, lives_s=LINK_S, opened_by=token.id))
        try:
            yield token.secret, link.secret
        finally:
            await access.revoke_token(token.id, None)


class _Uvicorn(uvicorn.Server):
    """Leaves signals to the command, which stops the parts in the right order."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def keep_token(access: AccessStore, token_id: str, clock: Clock, sign: Sign) -> None:
    while True:
        sign()
        await clock.sleep(RENEW_EVERY_S)
        try:
            await access.renew_token(token_id, RENEWED_S)
        except HeadgateError as error:
            logger().warning("the server's token was not renewed", error=str(error))


def _for_owner(made: Minted, kind: TokenKind, **more: Any) -> NewToken:
    label = "headgate serve"
    return NewToken(made.id, LOCAL_OWNER, made.digest, kind, Role.ADMIN, label, **more)


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        raise BadSetting(
            f"cannot listen on {host}:{port}: {error.strerror}; choose another with --port"
        ) from error
    return listener


def _url(host: str, listener: socket.socket) -> str:
    port = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"


def _opened(url: str, token: str, link: str) -> OpenedServer:
    return OpenedServer(url, token, f"{url}/login/link?token={link}")
