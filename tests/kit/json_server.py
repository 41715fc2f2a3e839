"""json-server over a JSON file, with the words that GitHub has for its paging."""

import contextlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.kit.ports import LOOPBACK
from tests.kit.provider import wait_until
from tests.kit.service import ServiceFailed
from tests.kit.source_server import FOLDER, SourceServer, installed

MAIN = FOLDER / "node_modules" / "json-server" / "lib" / "cli" / "bin.js"
AS_GITHUB = """
const WORDS = { page: '_page', per_page: '_limit', sort: '_sort', direction: '_order' };

module.exports = (request, response, next) => {
  const asked = new URL(request.url, 'http://localhost');
  const path = asked.pathname.replace(/^\\/repos\\/[^/]+\\/[^/]+/, '');
  const given = new Map(asked.searchParams);
  if (request.method !== 'GET') return next();
  const query = new URLSearchParams();
  if (given.has('per_page') && !given.has('page')) given.set('page', '1');
  // Its links replace the first `page=` that they find: let that be the right one.
  if (given.has('page')) query.set('_page', given.get('page'));
  for (const [name, value] of given) {
    if (name === 'page' || (name === 'state' && value === 'all')) continue;
    if (name === 'since') query.set('updated_at_gte', value);
    else if (name === 'sort') query.set('_sort', `${value}_at`);
    else query.set(WORDS[name] ?? name, value);
  }
  request.query = Object.fromEntries(query);
  request.url = query.size ? `${path}?${query}` : path;
  request.originalUrl = request.url;
  next();
};
"""
"""Understands `/repos/OWNER/NAME`, `per_page`, `page`, `sort`, `direction`, `state` and `since`."""


class JsonServer(SourceServer):
    """Serves each list of `tables` under its name, and writes changes into its file."""

    program = "json-server"
    always = "/db"

    def __init__(self, tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        super().__init__()
        self.database = self.folder / "db.json"
        self.database.write_text(json.dumps(tables))
        (self.folder / "github.js").write_text(AS_GITHUB)

    @classmethod
    def find(cls) -> str:
        installed(MAIN, cls.program)
        return installed(FOLDER / "node", cls.program)

    def command(self) -> list[str]:
        words = [str(MAIN), "--host", LOOPBACK, "--port", str(self.port)]
        return [*words, "--middlewares", "github.js", "--", str(self.database)]

    def rows(self, table: str) -> list[dict[str, Any]]:
        """What the file truly holds."""
        rows: list[dict[str, Any]] = json.loads(self.database.read_text())[table]
        return rows

    def write(self, path: str, method: str, value: object = None) -> None:
        """Change a row, and return once the file has the change: the answer comes earlier."""
        reply = self.ask(path, method, value)
        if reply.status not in {200, 201}:
            raise ServiceFailed(f"json-server refused to write: {reply.status}")
        table = path.split("/")[1]
        now = self.ask(f"/{table}").value
        wait_until(lambda: self._written(table) == now)

    def _written(self, table: str) -> object:
        with contextlib.suppress(ValueError):  # it may be half written
            return self.rows(table)
        return None
