"""How the server answers: where it listens, how much it takes, whom it lets in for how long."""

from typing import Annotated

import msgspec

from headgate.core.bounds import Count, Days, Pace, Patience, Seconds
from headgate.core.client_address import networks_of

Megabytes = Annotated[int, msgspec.Meta(ge=1)]
Port = Annotated[int, msgspec.Meta(ge=0, le=65_535)]


class ServerPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of `headgate serve`."""

    host: str = "127.0.0.1"
    """Where it listens. Anything but loopback needs users: `headgate users add`."""
    port: Port = 8_470
    """0 takes any that is free."""
    hosts: tuple[str, ...] = ()
    """Names under which the server may be asked, beside loopback and plain addresses."""
    trusted_proxies: tuple[str, ...] = ("127.0.0.0/8", "::1")
    """Addresses and networks of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` count."""
    https: bool = False
    """Users reach it over https alone: the cookie is `Secure`, whatever a proxy says."""
    data_folder: str = ""
    """Where uploads and exports lie; empty: `.headgate-data` beside the SQLite file."""
    upload_mb: Megabytes = 2_048
    """The largest upload, all files together."""
    uploads_at_once: Count = 32
    """Uploads that are taken in at the same time; others wait."""
    uploads_per_user: Count = 8
    """Of these, uploads of one user."""
    upload_min_bytes_per_s: Pace = 1_000.0
    """An upload that is slower than this is ended. 0: only one that sends nothing is."""
    upload_slow_s: Seconds = 30.0
    """The average is taken over this time, which every upload has."""
    copies_at_once: Count = 8
    """Sources that are copied from other machines at the same time; others wait."""
    copies_per_user: Count = 2
    """Of these, sources of one user."""
    reads_at_once: Count = 8
    """Files that are read into jobs at the same time; others wait."""
    reads_per_user: Count = 2
    """Of these, files of one user."""
    previews_at_once: Count = 4
    """Files whose first rows are read at the same time, for a preview or to check an upload."""
    previews_per_user: Count = 1
    """Of these, files of one user."""
    exports_at_once: Count = 8
    """Exports that are written at the same time; others wait."""
    exports_per_user: Count = 2
    """Of these, exports of one user."""
    unfinished_exports_per_user: Count = 50
    """Exports that a user may have waiting or under way."""
    inline_items: Count = 10_000
    """Items that may stand in the body of a request; more belong in a file."""
    unfinished_jobs_per_user: Count = 100
    """Jobs that a user may have under way."""
    open_items_per_user: Count = 20_000_000
    """Items that a user may have waiting or running."""
    connections: Count = 4_000
    """Connections at the same time; fewer where the process may not open that many files. When they
    are all taken, the one goes that has owed its request for the longest time."""
    connections_per_address: Count = 200
    """Connections from one address. Loopback is not counted: a proxy there speaks for many. Behind
    a proxy on another machine, allow as many as it opens."""
    head_s: Seconds = 10.0
    """How long the head of a request may take to arrive."""
    body_s: Seconds = 20.0
    """How long a body in JSON may take to arrive, and a second more for each 16 kB of it."""
    bodies_mb: Megabytes = 64
    """Bodies in JSON that are in memory at the same time, all together. A user has a quarter."""
    streams_per_user: Count = 32
    """Streams of events that a user may have open at the same time."""
    session_s: Seconds = 12 * 3_600.0
    """How long a browser stays logged in."""
    login_tries: Count = 10
    """Failed logins in five minutes of one account from one address. An address has five times as
    many for all accounts, and an account as many in an hour from addresses that are new to it."""
    tokens_per_user: Count = 100
    """API tokens that a user may have at a time. The command line may make more."""
    kickoff_s: Seconds = 30.0
    """The longest slice that a kickoff may ask for."""
    pending_view: bool = True
    """Whether `/api/pending` answers: the view across jobs."""
    keep_uploads_days: Days = 30.0
    """Uploads of finished jobs, and exports, go after so long."""
    watch: tuple[str, ...] = ()
    """Places to look for new files, each as `HANDLER=PLACE`: `price.lookup=s3://bucket/in/*.csv`."""
    watch_s: Seconds = 60.0
    """How often they are looked at by `headgate watch`."""
    watch_settle_s: Patience = 2.0
    """How long a file must not have changed before it is taken."""

    def __post_init__(self) -> None:
        try:
            networks_of(self.trusted_proxies)
        except ValueError as error:
            raise ValueError(f"trusted_proxies: {error}") from error
