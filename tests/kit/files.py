"""A folder over HTTP, by a real nginx."""

import os
from urllib.parse import quote

from tests.kit.ports import LOOPBACK
from tests.kit.service import Service


class FileServer(Service):
    """Serves the folder `files`, with ranges and ETags; `/closed/` asks for a password."""

    program = "nginx"

    def __init__(self) -> None:
        super().__init__()
        self.files = self.folder / "files"
        (self.files / "closed").mkdir(parents=True)
        (self.folder / "users").write_text("me:{PLAIN}s3cret\n")

    def command(self) -> list[str]:
        user = "user root;" if os.geteuid() == 0 else ""
        temporary = "".join(
            f"{kind}_temp_path {self.folder}/{kind};"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        configuration = self.folder / "nginx.conf"
        configuration.write_text(f"""
            daemon off; worker_processes 1; pid nginx.pid; error_log stderr crit; {user}
            events {{ worker_connections 256; }}
            http {{
                {temporary} access_log off; default_type application/octet-stream;
                server {{
                    listen {LOOPBACK}:{self.port};
                    root {self.files};
                    location /closed/ {{
                        auth_basic "x";
                        auth_basic_user_file {self.folder}/users;
                    }}
                }}
            }}
        """)
        return ["-e", "stderr", "-p", str(self.folder), "-c", str(configuration)]

    def url(self, path: str = "", host: str = LOOPBACK, credentials: str = "") -> str:
        """Where a client finds a file."""
        at = f"{credentials}@" if credentials else ""
        return f"http://{at}{host}:{self.port}/{quote(path)}"
