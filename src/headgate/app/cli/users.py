"""`headgate users`: who may use the server."""

import asyncio
import sys
from typing import Annotated

import typer

from headgate.app.cli.options import Json, seconds_in
from headgate.app.cli.render.jobs import ago, local_time
from headgate.app.cli.runtime import CliContext, command, noun
from headgate.app.credentials import hash_password, mint
from headgate.core.errors import UsageError
from headgate.core.password import weakness_of
from headgate.core.time_text import moment
from headgate.core.user import Role, Token, TokenKind, User, weaker
from headgate.ports.access import NewToken, NewUser, UserChange

app = noun("users", "Users of the server, and their tokens.")

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
    role: Annotated[Role, typer.Option("--role", help="What they may do.")] = Role.USER,
    password_stdin: Annotated[
        bool,
        typer.Option("--password-stdin", help="Read a password from standard input."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Make a user and, unless a password was given, a first token (shown once)."""
    kept = None
    if password_stdin:
        kept = await asyncio.to_thread(hash_password, _password(name))
    async with cli.store(create=True) as store:
        user = await store.access.add_user(NewUser(name, role, kept))
        secret = None
        if kept is None:
            made = mint()
            await store.access.add_token(
                NewToken(made.id, name, made.digest, TokenKind.API, role, "first")
            )
            secret = made.secret
    if as_json:
        cli.screen.json({"name": user.name, "role": user.role, "token": secret})
        return
    cli.screen.say(f"{user.name} may come in as {user.role}")
    if secret:
        cli.screen.say("this token is shown once:")
        cli.screen.line(secret)


@command(app, "ls", ["headgate users ls", "headgate users ls --json | jq '.users[].name'"])
async def ls(cli: CliContext, as_json: Json = False) -> None:
    """List users and their tokens."""
    async with cli.store() as store:
        users = await store.access.users()
        tokens = await store.access.tokens(None)
    shown = [token for token in tokens if token.kind is TokenKind.API]
    if as_json:
        shapes = {"users": [*map(_user_json, users)], "tokens": [*map(_token_json, shown)]}
        cli.screen.json(shapes)
        return
    if not users:
        cli.screen.say("nobody yet: `headgate users add NAME` makes a user")
        return
    now = cli.clock.now()
    cli.screen.table(
        ("USER", "ROLE", "PASSWORD", "MADE", "STATE"),
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


def _user_json(user: User) -> dict[str, object]:
    return {
        "name": user.name,
        "role": user.role,
        "has_password": user.has_password,
        "created_at": moment(user.created_at),
        "disabled_at": moment(user.disabled_at),
    }


def _token_json(token: Token) -> dict[str, object]:
    return {
        "id": token.id,
        "user": token.user,
        "role": token.role,
        "label": token.label,
        "created_at": moment(token.created_at),
        "expires_at": moment(token.expires_at),
        "last_used_at": moment(token.last_used_at),
    }


def _show_tokens(cli: CliContext, tokens: list[Token], now: int) -> None:
    cli.screen.table(
        ("TOKEN", "USER", "ROLE", "LABEL", "MADE", "EXPIRES", "LAST USED"),
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
    label: Annotated[str, typer.Option("--label", metavar="TEXT", help="What it is for.")] = "",
    role: Annotated[
        Role | None, typer.Option("--role", help="Less than the user's own, if wanted.")
    ] = None,
    expires: Annotated[
        str | None, typer.Option("--expires", metavar="TIME", help="When it ends: 12h, 90d.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a token for a user; it is shown once."""
    lives_s = seconds_in(expires, "--expires")
    made = mint()
    async with cli.store() as store:
        user, _ = await store.access.user(name)
        wanted = weaker(role or user.role, user.role)
        kept = await store.access.add_token(
            NewToken(made.id, name, made.digest, TokenKind.API, wanted, label, lives_s)
        )
    if as_json:
        cli.screen.json({"id": kept.id, "user": name, "role": kept.role, "token": made.secret})
        return
    cli.screen.say(f"a token of {name} ({kept.role}), shown once:")
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
    """End a token, or let a user in no more; effective at once."""
    if (token_id is None) == (user is None):
        raise UsageError("say which token, or --user NAME")
    async with cli.store() as store:
        if user is not None:
            await store.access.change_user(user, UserChange(disabled=True))
            cli.screen.say(f"{user} is let in no more; their jobs stay")
            return
        if not await store.access.revoke_token(token_id or "", None):
            raise UsageError(f"there is no token {token_id!r} that holds; see: headgate users ls")
    cli.screen.say(f"token {token_id} is revoked")


@command(app, "enable", ["headgate users enable ann"])
async def enable(cli: CliContext, *, name: Name) -> None:
    """Let a disabled user in again: by password or new tokens, the old ones stay revoked."""
    async with cli.store() as store:
        await store.access.change_user(name, UserChange(disabled=False))
    cli.screen.say(f"{name} may come in again; `headgate users token {name}` makes a token")


def _password(name: str) -> str:
    password = sys.stdin.readline().rstrip("\r\n")
    if weakness := weakness_of(password, name):
        raise UsageError(weakness)
    return password
