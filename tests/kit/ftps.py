"""A real FTP server under TLS of one's own."""

import getpass
import os
from urllib.parse import quote

from tests.kit.certificates import make_certificate
from tests.kit.service import Service

IS_ROOT = os.geteuid() == 0


class FtpsServer(Service):
    """Serves the folder `files` to anybody, under TLS alone, and insists on one TLS session.

    `implicit` begins with TLS, as on port 990; else it must be asked for.
    """

    program = "vsftpd"

    def __init__(self, *, implicit: bool = False) -> None:
        super().__init__()
        self._implicit = implicit
        self.files = self.folder / "files"
        self.files.mkdir()
        self.folder.chmod(0o755)  # another account may serve it
        (self.folder / "empty").mkdir()
        self.certificate = make_certificate(self.folder)

    def command(self) -> list[str]:
        configuration = self.folder / "vsftpd.conf"
        settings = {
            "listen": "YES",
            "listen_address": "127.0.0.1",
            "listen_port": self.port,
            "background": "NO",
            "run_as_launching_user": "NO" if IS_ROOT else "YES",
            "anonymous_enable": "YES",
            "no_anon_password": "YES",
            "anon_root": self.files,
            "ftp_username": "ftp" if IS_ROOT else getpass.getuser(),
            "secure_chroot_dir": self.folder / "empty",
            "seccomp_sandbox": "NO",
            "ssl_enable": "YES",
            "allow_anon_ssl": "YES",
            "force_anon_data_ssl": "YES",
            "force_anon_logins_ssl": "YES",
            "require_ssl_reuse": "YES",
            "ssl_ciphers": "HIGH",
            "rsa_cert_file": self.certificate,
            "implicit_ssl": "YES" if self._implicit else "NO",
        }
        configuration.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        return [str(configuration)]

    def url(self, path: str = "", host: str = "localhost") -> str:
        """Where a client finds a file."""
        # Only root can lock it up in its folder.
        full = f"/{path}" if IS_ROOT else str(self.files / path)
        return f"ftps://{host}:{self.port}{quote(full)}"
