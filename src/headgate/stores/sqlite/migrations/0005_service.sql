-- Many users: who they are, what is theirs, what they ask for and what they decide.

-- How the server reads a job's source, what its sender calls it, where it came from, how far it is.
ALTER TABLE jobs ADD COLUMN reading TEXT;
ALTER TABLE jobs ADD COLUMN file TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN client TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN ingest TEXT NOT NULL DEFAULT '{}';
CREATE INDEX jobs_under_way ON jobs (owner)
WHERE state IN ('INGESTING', 'QUEUED', 'RUNNING', 'PAUSED');

-- The names under which jobs are made at most once; they outlive their jobs.
CREATE TABLE made_once (
    owner TEXT NOT NULL,
    key TEXT NOT NULL,
    digest TEXT NOT NULL,
    job_id INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (owner, key)
) WITHOUT ROWID;

-- What kind of failure an item has. Only failures are in the index: no other item pays for it.
ALTER TABLE items ADD COLUMN signature TEXT CHECK (signature IS NULL OR status = 'ERROR');
UPDATE items SET signature = error_class WHERE status = 'ERROR';
CREATE INDEX items_by_signature ON items (job_id, signature, id) WHERE status = 'ERROR';

-- Whose job an event is about, also after the job is gone.
ALTER TABLE events ADD COLUMN owner TEXT;
UPDATE events SET owner = (SELECT jobs.owner FROM jobs WHERE jobs.id = events.job_id)
WHERE job_id IS NOT NULL;
CREATE INDEX events_by_owner ON events (owner, id) WHERE owner IS NOT NULL;

CREATE TABLE users (
    name TEXT NOT NULL PRIMARY KEY CHECK (name != ''),
    role TEXT NOT NULL CHECK (role IN ('viewer', 'user', 'admin')),
    password_hash TEXT,
    created_at INTEGER NOT NULL,
    disabled_at INTEGER
) WITHOUT ROWID;

CREATE TABLE tokens (
    id TEXT NOT NULL PRIMARY KEY,
    user_name TEXT NOT NULL REFERENCES users (name),
    digest TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('api', 'login', 'link')),
    role TEXT NOT NULL CHECK (role IN ('viewer', 'user', 'admin')),
    label TEXT NOT NULL DEFAULT '',
    opened_by TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    last_used_at INTEGER,
    revoked_at INTEGER
) WITHOUT ROWID;
CREATE UNIQUE INDEX tokens_by_digest ON tokens (digest);
CREATE INDEX tokens_by_user ON tokens (user_name, created_at) WHERE revoked_at IS NULL;

CREATE TABLE exports (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id INTEGER NOT NULL REFERENCES jobs (id),
    format TEXT NOT NULL,
    asked_by TEXT NOT NULL,
    options TEXT NOT NULL DEFAULT '{}',
    state TEXT NOT NULL DEFAULT 'QUEUED' CHECK (state IN ('QUEUED', 'RUNNING', 'DONE', 'FAILED')),
    written INTEGER NOT NULL DEFAULT 0 CHECK (written >= 0),
    sha256 TEXT,
    file TEXT,
    size INTEGER,
    error TEXT,
    report TEXT,
    holder TEXT,
    until_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    finished_at INTEGER,
    CHECK ((state = 'RUNNING') = (holder IS NOT NULL)),
    CHECK ((state = 'RUNNING') = (until_at IS NOT NULL)),
    CHECK ((state IN ('DONE', 'FAILED')) = (finished_at IS NOT NULL)),
    CHECK ((state = 'DONE') = (sha256 IS NOT NULL AND file IS NOT NULL AND size IS NOT NULL)),
    CHECK ((state = 'FAILED') = (error IS NOT NULL))
);
CREATE INDEX exports_by_job ON exports (job_id, id);
CREATE INDEX exports_to_make ON exports (id) WHERE state IN ('QUEUED', 'RUNNING');
CREATE INDEX exports_by_age ON exports (finished_at) WHERE finished_at IS NOT NULL;

-- One decision for each asking: an item that is done again may be decided again.
CREATE TABLE decisions (
    item_id INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    move TEXT NOT NULL CHECK (move IN ('accept', 'reject', 'pass_over')),
    candidate TEXT,
    decided_by TEXT NOT NULL,
    decided_at INTEGER NOT NULL,
    PRIMARY KEY (item_id, epoch),
    CHECK ((move = 'accept') = (candidate IS NOT NULL))
) WITHOUT ROWID;

-- Results that the same work of the same owner may have again.
CREATE TABLE reusable (
    owner TEXT NOT NULL,
    digest TEXT NOT NULL,
    job_id INTEGER NOT NULL,
    item_id INTEGER NOT NULL,
    finished_at INTEGER NOT NULL,
    PRIMARY KEY (owner, digest)
) WITHOUT ROWID;
CREATE INDEX reusable_by_item ON reusable (item_id);

-- A worker that was asked to finish what it runs, and to end.
ALTER TABLE workers ADD COLUMN drain_at INTEGER;
