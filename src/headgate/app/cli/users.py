"""`headgate users`: the users of the server and their tokens."""

import asyncio
import sys
from typing import Annotated

import typer
from msgspec.structs import asdict

from headgate.app.cli.options import Json, seconds_in
from headgate.app.cli.render.times import ago, local_time
from headgate.app.cli.runtime import CliContext, command, noun
from headgate.app.credentials import hash_password, new_token
from headgate.app.schema_values import token_view, user_view
from headgate.core.errors import UsageError
from headgate.core.user import Role, Token, TokenKind, password_weakness, weaker_role
from headgate.ports.access import NewToken, NewUser, UserChange

app = noun("users", "Manage the users of the server and their tokens.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of the user.")]


@command(
    app,
    "add",
    ["headgate users add ann", "headgate users add root --role admin --password-stdin < secret"],
)
async def add(
    cli: CliContext,
    *,
    name: Name,
    role: Annotated[Role, typer.Option("--role", help="What the user may do.")] = Role.USER,
    password_stdin: Annotated[
        bool,
        typer.Option("--password-stdin", help="Read a password from standard input."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Create a user and, without a password, a first token (shown once)."""
    kept = None
    if password_stdin:
        kept = await asyncio.to_thread(hash_password, _password(name))
    async with cli.store(create=True) as store:
        user = await store.access.add_user(NewUser(name, role, kept))
        secret = None
        if kept is None:
            made = new_token()
            await store.access.add_token(
                NewToken(made.id, name, made.digest, TokenKind.API, role, "first")
            )
            secret = made.secret
    if as_json:
        cli.screen.json({"name": user.name, "role": user.role, "token": secret})
        return
    cli.screen.say(f"created user {user.name} with role {user.role}")
    if secret:
        cli.screen.say("this token is shown only once:")
        cli.screen.line(secret)


@command(app, "ls", ["headgate users ls", "headgate users ls --json | jq '.users[].name'"])
async def ls(cli: CliContext, as_json: Json = False) -> None:
    """List users and their tokens."""
    async with cli.store() as store:
        users = await store.access.users()
        tokens = await store.access.tokens(None)
    shown = [token for token in tokens if token.kind is TokenKind.API]
    if as_json:
        listed = [asdict(user_view(user)) for user in users]
        cli.screen.json({"users": listed, "tokens": [*map(_token_json, shown)]})
        return
    if not users:
        cli.screen.say("No users yet. Create one with `headgate users add NAME`.")
        return
    now = cli.clock.now()
    cli.screen.table(
        ("USER", "ROLE", "PASSWORD", "CREATED", "STATE"),
        [
            (
                user.name,
                user.role,
                "yes" if user.has_password else "no",
                ago(user.created_at, now),
                "disabled" if user.disabled_at else "",
            )
            for user in users
        ],
    )
    if shown:
        cli.screen.line("\nTokens", "bold")
        _show_tokens(cli, shown, now)


def _token_json(token: Token) -> dict[str, object]:
    shape = asdict(token_view(token))
    del shape["kind"]  # only API tokens are listed
    return shape


def _show_tokens(cli: CliContext, tokens: list[Token], now: int) -> None:
    cli.screen.table(
        ("TOKEN", "USER", "ROLE", "LABEL", "CREATED", "EXPIRES", "LAST USED"),
        [
            (
                token.id,
                token.user,
                token.role,
                token.label,
                ago(token.created_at, now),
                local_time(token.expires_at) or "never",
                ago(token.last_used_at, now) or "never",
            )
            for token in tokens
        ],
    )


@command(
    app, "token", ["headgate users token ann", "headgate users token ann --label ci --expires 90d"]
)
async def token(
    cli: CliContext,
    *,
    name: Name,
    label: Annotated[
        str, typer.Option("--label", metavar="TEXT", help="A note on what the token is for.")
    ] = "",
    role: Annotated[
        Role | None, typer.Option("--role", help="A weaker role than the user's own.")
    ] = None,
    expires: Annotated[
        str | None,
        typer.Option(
            "--expires",
            metavar="TIME",
            help="How long the token is valid: 12h, 90d. Default: no end.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Create a token for a user; it is shown once."""
    lives_s = seconds_in(expires, "--expires")
    made = new_token()
    async with cli.store() as store:
        user, _ = await store.access.user(name)
        wanted = weaker_role(role or user.role, user.role)
        kept = await store.access.add_token(
            NewToken(made.id, name, made.digest, TokenKind.API, wanted, label, lives_s)
        )
    if as_json:
        cli.screen.json({"id": kept.id, "user": name, "role": kept.role, "token": made.secret})
        return
    cli.screen.say(f"token for {name} ({kept.role}); it is shown only once:")
    cli.screen.line(made.secret)


@command(app, "revoke", ["headgate users revoke 3f9c2a7d10b4", "headgate users revoke --user ann"])
async def revoke(
    cli: CliContext,
    token_id: Annotated[
        str | None, typer.Argument(metavar="[TOKEN]", help="A token's id, from `users ls`.")
    ] = None,
    user: Annotated[
        str | None,
        typer.Option("--user", metavar="NAME", help="Disable a user, with all their tokens."),
    ] = None,
) -> None:
    """Revoke a token, or disable a user with all their tokens; effective immediately."""
    if (token_id is None) == (user is None):
        raise UsageError("name a token or --user NAME")
    async with cli.store() as store:
        if user is not None:
            await store.access.change_user(user, UserChange(disabled=True))
            cli.screen.say(f"user {user} is disabled and can no longer log in; their jobs are kept")
            return
        if not await store.access.revoke_token(token_id or "", None):
            raise UsageError(f"no valid token has the id {token_id!r}; see: headgate users ls")
    cli.screen.say(f"token {token_id} is revoked")


@command(app, "enable", ["headgate users enable ann"])
async def enable(cli: CliContext, *, name: Name) -> None:
    """Enable a disabled user again; the old tokens stay revoked."""
    async with cli.store() as store:
        await store.access.change_user(name, UserChange(disabled=False))
    cli.screen.say(f"user {name} is enabled again; `headgate users token {name}` creates a token")


def _password(name: str) -> str:
    password = sys.stdin.readline().rstrip("\r\n")
    if weakness := password_weakness(password, name):
        raise UsageError(weakness)
    return password
