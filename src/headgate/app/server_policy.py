"""How the server answers: where it listens, how much it takes, whom it lets in for how long."""

from typing import Annotated

import msgspec

from headgate.core.bounds import Count, Days, Patience, Seconds

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
    data_folder: str = ""
    """Where uploads and exports lie; empty: `.headgate-data` beside the SQLite file."""
    upload_mb: Megabytes = 2_048
    """The largest upload, all files together."""
    uploads_at_once: Count = 32
    """Uploads that are taken in at the same time; others wait."""
    inline_items: Count = 10_000
    """Items that may stand in the body of a request; more belong in a file."""
    unfinished_jobs_per_user: Count = 100
    """Jobs that a user may have under way."""
    open_items_per_user: Count = 20_000_000
    """Items that a user may have waiting or running."""
    streams_per_user: Count = 32
    """Streams of events that a user may have open at the same time."""
    session_s: Seconds = 12 * 3_600.0
    """How long a browser stays logged in."""
    login_tries: Count = 10
    """Failed logins that a name or an address has in five minutes."""
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
