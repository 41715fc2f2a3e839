"""Settings of the server: addresses, limits, sessions and watched places."""

from typing import Annotated

import msgspec

from headgate.core.address import parse_networks
from headgate.core.bounds import Count, Days, Pace, Patience, Seconds

Megabytes = Annotated[int, msgspec.Meta(ge=1)]
Port = Annotated[int, msgspec.Meta(ge=0, le=65_535)]


class ServerPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of `headgate serve`."""

    host: str = "127.0.0.1"
    """Address to listen on. Any address other than loopback needs users: `headgate users add`."""
    port: Port = 8_470
    """Port to listen on; 0 takes any free one."""
    hosts: tuple[str, ...] = ()
    """Host names that requests may use, in addition to loopback and IP addresses."""
    trusted_proxies: tuple[str, ...] = ("127.0.0.0/8", "::1")
    """Addresses and networks of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` count."""
    https: bool = False
    """Users reach the server only over https: the cookie is `Secure`, whatever a proxy says."""
    data_folder: str = ""
    """Folder of uploads and exports; empty: `.headgate-data` beside the SQLite file."""
    upload_mb: Megabytes = 2_048
    """Largest upload in megabytes, all files together."""
    uploads_at_once: Count = 32
    """Uploads that are received at the same time; others wait."""
    uploads_per_user: Count = 8
    """Uploads of one user that are received at the same time."""
    upload_min_bytes_per_s: Pace = 1_000.0
    """Slowest average speed of an upload, in bytes per second. 0: only a silent one is ended."""
    upload_slow_s: Seconds = 30.0
    """Seconds over which the average speed is taken."""
    copies_at_once: Count = 8
    """Sources that are copied from other machines at the same time; others wait."""
    copies_per_user: Count = 2
    """Sources of one user that are copied at the same time."""
    reads_at_once: Count = 8
    """Files that are read into jobs at the same time; others wait."""
    reads_per_user: Count = 2
    """Files of one user that are read at the same time."""
    previews_at_once: Count = 4
    """Files whose first rows are read at the same time, for a preview or to check an upload."""
    previews_per_user: Count = 1
    """Files of one user whose first rows are read at the same time."""
    exports_at_once: Count = 8
    """Exports that are written at the same time; others wait."""
    exports_per_user: Count = 2
    """Exports of one user that are written at the same time."""
    unfinished_exports_per_user: Count = 50
    """Waiting and running exports of one user."""
    inline_items: Count = 10_000
    """Items in the body of a request; for more, upload a file."""
    unfinished_jobs_per_user: Count = 100
    """Unfinished jobs of one user."""
    open_items_per_user: Count = 20_000_000
    """Waiting and running items of one user."""
    connections: Count = 4_000
    """Connections at the same time; fewer if the process may not open that many files. When all are
    in use, the connection that has waited longest for its request is closed."""
    connections_per_address: Count = 200
    """Connections from one address. Loopback is not counted: a proxy there has many users. For a
    proxy on another machine, allow as many connections as it opens."""
    head_s: Seconds = 10.0
    """Seconds that the head of a request may take to arrive."""
    body_s: Seconds = 20.0
    """Seconds that a JSON body may take to arrive, plus one second for each 16 kB of it."""
    bodies_mb: Megabytes = 64
    """Megabytes of JSON bodies in memory at the same time. One user may have a quarter of them."""
    streams_per_user: Count = 32
    """Event streams that a user may have open at the same time."""
    session_s: Seconds = 12 * 3_600.0
    """Seconds that a browser stays logged in."""
    login_tries: Count = 10
    """Failed logins in five minutes for one account from one address. An address has five times as
    many for all accounts, and an account as many in an hour from addresses that are new to it."""
    tokens_per_user: Count = 100
    """API tokens of one user. The command line may create more."""
    kickoff_s: Seconds = 30.0
    """Longest slice of a kickoff in seconds."""
    pending_view: bool = True
    """Enables `/api/pending`, the view across jobs."""
    keep_uploads_days: Days = 30.0
    """Days that exports, and uploads of finished jobs, are kept."""
    watch: tuple[str, ...] = ()
    """Places to scan for files, each as `HANDLER=PLACE`: `price.lookup=s3://bucket/in/*.csv`."""
    watch_s: Seconds = 60.0
    """Seconds between two scans by `headgate watch`."""
    watch_settle_s: Patience = 2.0
    """Seconds without a change before a file is taken."""

    def __post_init__(self) -> None:
        try:
            parse_networks(self.trusted_proxies)
        except ValueError as error:
            raise ValueError(f"trusted_proxies: {error}") from error
