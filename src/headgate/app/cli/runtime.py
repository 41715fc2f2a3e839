"""What all commands share: options, settings, store or server, and error messages."""

import contextlib
import functools
import inspect
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec
import typer

from headgate.app import telemetry
from headgate.app.cli.exit_codes import Exit, is_output_closed, known_error, of_error
from headgate.app.cli.help_page import HelpCommand, HelpGroup
from headgate.app.cli.output import Output
from headgate.app.settings import (
    SERVER_VARIABLE,
    Flag,
    Loaded,
    LogFormat,
    LogLevel,
    Settings,
    load,
)
from headgate.core.errors import StoreUnreachable, UsageError
from headgate.core.redact_text import redacted

if TYPE_CHECKING:
    from headgate.app.service import GateReads, Service
    from headgate.ports.store import Store

SHARED = "Options of every command"

ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "-c",
        metavar="FILE",
        help="The settings file; default: ./headgate.toml, if it exists.",
        rich_help_panel=SHARED,
    ),
]
Database = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="URL",
        help="The store: sqlite:///FILE or postgresql://USER@HOST/NAME.",
        rich_help_panel=SHARED,
    ),
]
ServerUrl = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        help="Use this server instead of a store; its token is read from HEADGATE_TOKEN.",
        rich_help_panel=SHARED,
    ),
]
Format = Annotated[
    LogFormat | None,
    typer.Option("--log-format", help="The format of the log.", rich_help_panel=SHARED),
]
Level = Annotated[
    LogLevel | None,
    typer.Option(
        "--log-level", help="The least severe level that is logged.", rich_help_panel=SHARED
    ),
]
Quiet = Annotated[
    bool | None,
    typer.Option(
        "--quiet",
        "-q",
        help="Print only data and warnings: no messages, no progress.",
        rich_help_panel=SHARED,
    ),
]


class Flags(msgspec.Struct, frozen=True):
    """The values of the shared options; None if not given."""

    config_file: Path | None = None
    db: str | None = None
    server: str | None = None
    log_format: LogFormat | None = None
    log_level: LogLevel | None = None
    quiet: bool | None = None

    def over(self, outer: "Flags | None") -> "Flags":
        """These flags on top of those given further left on the command line."""
        if outer is None:
            return self
        mine = {name: value for name, value in msgspec.structs.asdict(self).items() if value}
        return msgspec.structs.replace(outer, **mine)


SHARED_TYPES: Mapping[str, Any] = {
    "config_file": ConfigFile,
    "db": Database,
    "server": ServerUrl,
    "log_format": Format,
    "log_level": Level,
    "quiet": Quiet,
}


class CliContext:
    def __init__(self, flags: Flags) -> None:
        # Imported here: `--help` needs neither a clock nor a store nor an event loop.
        from headgate.engine.clock import SystemClock  # noqa: PLC0415

        self.flags = flags
        self.screen = Output(quiet=bool(flags.quiet))
        self.screen.as_json = flags.log_format == LogFormat.JSON
        self.clock = SystemClock()

    def load(self, *flags: Flag) -> Loaded:
        """The settings, with the shared flags and the command's own; prints their warnings."""
        shared = (
            Flag("database_url", "--db", self.flags.db),
            Flag("log.format", "--log-format", self.flags.log_format),
            Flag("log.level", "--log-level", self.flags.log_level),
        )
        loaded = load(self.flags.config_file, os.environ, (*shared, *flags))
        self.screen.as_json = loaded.settings.log.format == "json"
        for warning in loaded.warnings:
            self.screen.warn(warning)
        telemetry.configure(loaded.settings.log.level, loaded.settings.log.format)
        return loaded

    @contextlib.asynccontextmanager
    async def gates(self) -> "AsyncIterator[GateReads]":
        """Gates to read. Without a store, the built-in and the declared ones.

        A store that was named with `--db` must exist.
        """
        from headgate.app import wiring  # noqa: PLC0415  see __init__

        loaded = self.load()
        if self._server() or self.flags.db or not wiring.missing_file(loaded.settings):
            async with self.service() as service:
                yield service.gates
            return
        from headgate.app.local import DeclaredGates, NothingLearned  # noqa: PLC0415

        yield DeclaredGates(NothingLearned(self.clock), loaded)

    @contextlib.asynccontextmanager
    async def service(self, *, create: bool = False) -> "AsyncIterator[Service]":
        # Imported here, so that a command imports only one of the two.
        loaded = self.load()
        if server := self._server():
            from headgate.app.remote import connected  # noqa: PLC0415

            async with connected(server) as remote:
                yield remote
            return
        from headgate.app.local import LocalService  # noqa: PLC0415

        async with self.store(loaded.settings, create=create) as store:
            yield LocalService(store, loaded, self.clock)

    def _server(self) -> str | None:
        if self.flags.server and self.flags.db:
            raise UsageError("name a server or a store, not both: leave out --server or --db")
        return self.flags.server or (None if self.flags.db else os.environ.get(SERVER_VARIABLE))

    def require_local(self) -> None:
        """Refuse `--server` for a command that works with files and processes of this machine."""
        if self.flags.server:
            raise UsageError(
                "this command does not work with a server: leave out --server"
                " (for jobs, items, dlq, queue, providers, workers and export only)"
            )

    @contextlib.asynccontextmanager
    async def store(
        self,
        settings: Settings | None = None,
        *,
        create: bool = False,
    ) -> "AsyncIterator[Store]":
        """The opened store of the settings; only `create` makes a missing SQLite file."""
        from headgate.app import wiring  # noqa: PLC0415  see __init__
        from headgate.engine.observed import ObservedStore  # noqa: PLC0415  see __init__

        chosen = settings or self.load().settings
        if not create and (missing := wiring.missing_file(chosen)):
            # Otherwise a mistyped path would look like an empty store.
            raise StoreUnreachable(
                f"no store exists at {missing} yet: `headgate run` creates it, --db names another"
            )
        if emptied := wiring.emptied_file(chosen):
            self.screen.warn(
                f"{emptied} has 0 bytes and is used as a new store; if it held jobs before, stop"
                " and put a backup in its place, or their finished rows run again"
            )
        observer = telemetry.LogObserver(chosen.log.level)
        async with ObservedStore(wiring.open_store(chosen), observer, self.clock) as store:
            yield store


Action = TypeVar("Action", bound=Callable[..., Awaitable[Exit | None]])


def noun(name: str, about: str, group: type[HelpGroup] = HelpGroup) -> typer.Typer:
    app = typer.Typer(name=name, help=about, cls=group, no_args_is_help=True, rich_markup_mode=None)
    app.callback()(shared_callback(about))
    return app


def shared_callback(about: str, *own: inspect.Parameter) -> Callable[..., None]:
    def callback(ctx: typer.Context, **given: Any) -> None:
        shared = {name: given[name] for name in SHARED_TYPES}
        ctx.obj = Flags(**shared).over(ctx.obj)

    callback.__doc__ = about
    return _with_parameters(callback, own)


def command(
    app: typer.Typer,
    name: str,
    examples: Sequence[str] = (),
    *,
    far: bool = False,
) -> Callable[[Action], Action]:
    """Register `async def action(cli, …)` as a command; `examples` are the end of its help.

    `far`: the command uses only `cli.service()`, so it works with a server too.
    """

    def register(action: Action) -> Action:
        app.command(name, cls=HelpCommand, epilog=_epilog(examples))(_edge(action, far=far))
        return action

    return register


def _epilog(examples: Sequence[str]) -> str:
    # Typer keeps lines apart only with an empty line between them.
    return "\n\n".join(["Examples:", *(f"  $ {line}" for line in examples)]) if examples else ""


def _edge(action: Callable[..., Awaitable[Exit | None]], *, far: bool) -> Callable[..., None]:
    @functools.wraps(action)
    def edge(ctx: typer.Context, **given: Any) -> None:
        shared = {name: given.pop(name) for name in SHARED_TYPES}
        cli = CliContext(Flags(**shared).over(ctx.obj))

        def act() -> Awaitable[Exit | None]:
            if not far:
                cli.require_local()
            return action(cli, **given)

        raise typer.Exit(_guarded(cli, act))

    own = list(inspect.signature(action, eval_str=True).parameters.values())[1:]
    return _with_parameters(edge, own)


def _with_parameters(
    function: Callable[..., None],
    own: Sequence[inspect.Parameter],
) -> Callable[..., None]:
    """Set the signature that Typer reads: the function's own parameters, then the shared ones."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    context = inspect.Parameter("ctx", keyword, annotation=typer.Context)
    shared = [
        inspect.Parameter(name, keyword, default=None, annotation=annotation)
        for name, annotation in SHARED_TYPES.items()
    ]
    mine = [parameter.replace(kind=keyword) for parameter in own]
    signature = inspect.Signature([context, *mine, *shared])
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__annotations__ = {
        name: parameter.annotation for name, parameter in signature.parameters.items()
    }
    return function


def _guarded(cli: CliContext, action: Callable[[], Awaitable[Exit | None]]) -> Exit:
    from headgate.app.event_loop import run_async  # noqa: PLC0415  see CliContext

    try:
        return run_async(_awaited(action)) or Exit.OK
    except KeyboardInterrupt:
        _fail(cli, "interrupted")
        return Exit.INTERRUPTED
    except Exception as error:
        if is_output_closed(error) and known_error(error) is None:
            _drop_closed_streams()
            return Exit.BROKEN_PIPE
        if os.environ.get("HEADGATE_DEBUG"):
            if not cli.screen.as_json:
                raise
            telemetry.logger().error("the command failed", exc_info=error)
        return _explained(cli, error)


def _drop_closed_streams() -> None:
    """Point closed streams to /dev/null: a failed flush at exit would change the exit code."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
            continue
        with contextlib.suppress(OSError, ValueError):
            os.dup2(nowhere, stream.fileno())


def _fail(cli: CliContext, text: str) -> None:
    """Print why the command failed; a closed stderr is ignored."""
    try:
        cli.screen.fail(text)
    except BrokenPipeError:
        _drop_closed_streams()


def _explained(cli: CliContext, error: Exception) -> Exit:
    known = known_error(error)
    if known is not None:
        _fail(cli, _one_line(known))
        return of_error(known)
    if isinstance(error, OSError):
        _fail(cli, _one_line(error))
        return Exit.USAGE
    reason = f"{type(error).__name__}: {_one_line(error)}"
    _fail(cli, f"{reason} (a bug in Headgate; HEADGATE_DEBUG=1 shows where)")
    return Exit.INTERNAL


def _one_line(error: Exception) -> str:
    lines = (line.strip() for line in str(error).splitlines())
    return redacted(" ".join(line for line in lines if line))


async def _awaited(action: Callable[[], Awaitable[Exit | None]]) -> Exit | None:
    return await action()
