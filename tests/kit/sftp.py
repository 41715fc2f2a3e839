"""A real SSH server of one's own, for the account that runs the tests."""

import getpass
import os
import subprocess
from pathlib import Path
from urllib.parse import quote

from tests.kit.ports import LOOPBACK
from tests.kit.service import Service

PRIVILEGE_FOLDER = Path("/run/sshd")
"""Where a server that root starts locks up its children; distributions make it at boot."""


class SftpServer(Service):
    """Opens to `key` alone, and serves the folder `files` by its full path."""

    program = "sshd"

    def __init__(self) -> None:
        super().__init__()
        self.files = self.folder / "files"
        self.files.mkdir()
        self.key = self._make_key("user")
        self.other_key = self._make_key("stranger")
        self._host_key = self._make_key("host")
        authorized = self.folder / "authorized_keys"
        authorized.write_bytes(self.key.with_suffix(".pub").read_bytes())
        if os.geteuid() == 0:
            PRIVILEGE_FOLDER.mkdir(mode=0o755, exist_ok=True)

    def command(self) -> list[str]:
        configuration = self.folder / "sshd_config"
        configuration.write_text(f"""
            ListenAddress {LOOPBACK}:{self.port}
            HostKey {self._host_key}
            PidFile none
            AuthorizedKeysFile {self.folder}/authorized_keys
            StrictModes no
            UsePAM no
            PermitRootLogin yes
            MaxStartups 100
            Subsystem sftp internal-sftp
        """)
        return ["-D", "-e", "-f", str(configuration)]

    def url(self, path: str = "", host: str = LOOPBACK, password: str = "") -> str:
        """Where a client finds a file."""
        user = getpass.getuser() + (f":{quote(password, safe='')}" if password else "")
        return f"sftp://{user}@{host}:{self.port}{quote(str(self.files / path))}"

    def known_hosts(self, host: str = LOOPBACK) -> Path:
        """A file in which its host key stands."""
        file = self.folder / "known_hosts"
        kind, key, *_ = self._host_key.with_suffix(".pub").read_text().split()
        file.write_text(f"[{host}]:{self.port} {kind} {key}\n")
        return file

    def fingerprint(self) -> str:
        """The name of its host key."""
        shown = subprocess.run(
            ["ssh-keygen", "-l", "-f", str(self._host_key)],
            capture_output=True,
            text=True,
            check=True,
        )
        return shown.stdout.split()[1]

    def _make_key(self, name: str) -> Path:
        file = self.folder / name
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(file)], check=True)
        return file
