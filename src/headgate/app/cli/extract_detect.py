"""`headgate extract detect`: guess once how an API is paged, and write the guess down."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from headgate.app.cli.exit_codes import Exit
from headgate.app.cli.options import Json
from headgate.app.cli.runtime import CliContext
from headgate.app.extract.opening import SourceChanges, opened
from headgate.app.extract.sampling import SampledPass
from headgate.app.extract.source_file import write_source
from headgate.core.errors import UsageError
from headgate.handlers.extract.detecting import Guess, ListingReply, guess_source

Url = Annotated[
    str, typer.Argument(metavar="URL", help="A listing of the API, with the parameters it needs.")
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", metavar="FILE", help="The source to write; default: the host's name."
    ),
]
Secret = Annotated[
    str | None,
    typer.Option(
        "--token-env",
        metavar="NAME",
        help="The environment variable with a token, which is sent as a bearer token.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace FILE if it exists.")]


async def detect(
    cli: CliContext,
    *,
    url: Url,
    out: Out = None,
    token_env: Secret = None,
    force: Force = False,
    as_json: Json = False,
) -> Exit:
    """Ask URL once, guess how it is paged, and write a source to check and edit."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise UsageError(f"{url!r} is not a URL: give one that begins with http:// or https://")
    file = out or Path(f"{re.sub(r'[^A-Za-z0-9-]+', '-', parts.hostname)}.toml")
    auth = {"type": "bearer", "token": {"env": token_env}} if token_env else None
    guess = guess_source(await _reply(cli, url, auth), file.stem)
    if auth:
        guess.tree["client"]["auth"] = auth
    opened(guess.tree, file.stem, SourceChanges())
    comments = ["Guessed from one reply; check every word before you rely on it.", *guess.reasons]
    write_source(file, guess.tree, comments, force=force)
    _print(cli, file, guess, as_json=as_json)
    return Exit.OK


async def _reply(cli: CliContext, url: str, auth: Mapping[str, object] | None) -> ListingReply:
    """The reply to the URL, asked for as a pass would."""
    parts = urlsplit(url)
    client = {"base_url": f"{parts.scheme}://{parts.netloc}", **({"auth": auth} if auth else {})}
    tree = {"client": client, "resources": [{"name": "rows", "endpoint": {"path": "/"}}]}
    source = opened(tree, "detect", SourceChanges())
    settings = cli.load().settings
    async with (
        cli.store(settings, create=True) as store,
        SampledPass(source, settings, store).context(cli.clock) as ctx,
    ):
        headers = {"accept": "application/json"}
        reply = await ctx.http.request("GET", url, headers=headers, fresh=True)
        if not reply.is_success:
            raise UsageError(
                f"the URL answered {reply.status_code}: check it; with --token-env NAME a token is"
                " sent"
            )
        names = {name.lower(): value for name, value in reply.headers.items()}
        return ListingReply(reply.url, names, reply.json())


def _print(cli: CliContext, file: Path, guess: Guess, *, as_json: bool) -> None:
    if as_json:
        cli.screen.json({"file": str(file), "source": guess.tree, "reasons": guess.reasons})
        return
    for reason in guess.reasons:
        cli.screen.say(reason)
    cli.screen.say(f"wrote {file}: edit it, then try it with:")
    cli.screen.say(f"  headgate extract check {file}")
