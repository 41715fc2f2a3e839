"""Commands that run twice: on a local store, and on the server that uses it."""

import re

from typer.testing import CliRunner

from headgate.app.cli import app
from tests.kit.api_server import ApiServer
from tests.kit.cli import Cli
from tests.kit.command import Ended

_TIMES = re.compile(r"\d[\d,.]* (?:ms|s|min|h(?: \d+ min)?)\b(?: ago)?")


class LocalAndRemote:
    """The command line on the store of a server, and on the server through its API."""

    def __init__(self, server: ApiServer, *words: str) -> None:
        self.server = server
        self._local = ("--db", server.project.url, *words)

    def local(self, *words: str | int, stdin: str | None = None) -> Ended:
        """Give a command to the store itself."""
        return self._invoke([*map(str, words), *self._local], {}, stdin)

    def remote(
        self, *words: str | int, stdin: str | None = None, token: str | None = None
    ) -> Ended:
        """Give a command to the server."""
        secret = self.server.token if token is None else token
        return self._invoke(
            [*map(str, words), "--server", self.server.url], {"HEADGATE_TOKEN": secret}, stdin
        )

    def plain(self, *words: str | int) -> Ended:
        """Give a command that neither names a store nor a server."""
        return self._invoke([*map(str, words)], {}, None)

    def piped(self, *words: str, stdin: str) -> Ended:
        """Give a command to the server through the real executable, with something to read."""
        environment = {"HEADGATE_SERVER": self.server.url, "HEADGATE_TOKEN": self.server.token}
        return Ended(*Cli(self.server.folder, environment)(*words, stdin=stdin))

    def _invoke(self, words: list[str], environment: dict[str, str], stdin: str | None) -> Ended:
        done = CliRunner().invoke(app, words, input=stdin, env=environment, prog_name="headgate")
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Ended(done.exit_code, done.stdout, done.stderr)


def timeless(ended: Ended) -> Ended:
    """The same without lengths of time, which differ from one look to the next."""
    out, err = (re.sub(" +", " ", _TIMES.sub("0 s", text)) for text in (ended.out, ended.err))
    return Ended(ended.code, out, err)
