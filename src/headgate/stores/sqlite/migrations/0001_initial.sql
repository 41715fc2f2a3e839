-- Times are UTC microseconds of the store's own clock, which never goes backwards.

CREATE TABLE clock (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    last_at INTEGER NOT NULL
);
INSERT INTO clock (only, last_at) VALUES (1, 0);

CREATE TABLE jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    handler TEXT NOT NULL,
    source TEXT NOT NULL,
    key_columns TEXT NOT NULL DEFAULT '[]',
    config TEXT NOT NULL DEFAULT '{}',
    priority INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL CHECK (
        state IN ('INGESTING', 'QUEUED', 'RUNNING', 'PAUSED', 'DONE', 'FAILED', 'CANCELLED')
    ),
    open INTEGER NOT NULL DEFAULT 0 CHECK (open IN (0, 1)),
    eager INTEGER NOT NULL DEFAULT 0 CHECK (eager IN (0, 1)),
    fingerprint TEXT NOT NULL DEFAULT '',
    columns TEXT NOT NULL DEFAULT '[]',
    ingest_run INTEGER NOT NULL DEFAULT 1,
    ingest_position TEXT NOT NULL DEFAULT '',
    ingest_complete INTEGER NOT NULL DEFAULT 0 CHECK (ingest_complete IN (0, 1)),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    started_at INTEGER,
    finished_at INTEGER,
    last_error TEXT,
    CHECK ((state IN ('DONE', 'FAILED', 'CANCELLED')) = (finished_at IS NOT NULL)),
    CHECK (state != 'DONE' OR (ingest_complete = 1 AND open = 0)),
    CHECK (state != 'INGESTING' OR ingest_complete = 0)
);
CREATE INDEX jobs_by_owner ON jobs (owner, created_at);
CREATE INDEX jobs_by_state ON jobs (state, handler);
CREATE INDEX jobs_by_identity ON jobs (owner, handler, source);

CREATE TABLE items (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id INTEGER NOT NULL REFERENCES jobs (id),
    key TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'PENDING' CHECK (
        status IN (
            'PENDING', 'PROCESSING', 'DONE', 'NOT_FOUND', 'SKIPPED', 'REVIEW', 'ERROR', 'CANCELLED'
        )
    ),
    due_at INTEGER NOT NULL DEFAULT 0,
    updated_at INTEGER NOT NULL,
    owner TEXT NOT NULL,
    handler TEXT NOT NULL,
    gate TEXT NOT NULL DEFAULT '',
    line INTEGER NOT NULL DEFAULT 0,
    ingest_run INTEGER NOT NULL DEFAULT 1,
    attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
    crashes INTEGER NOT NULL DEFAULT 0 CHECK (crashes >= 0),
    strategy INTEGER NOT NULL DEFAULT 0 CHECK (strategy >= 0),
    suspect INTEGER NOT NULL DEFAULT 0 CHECK (suspect IN (0, 1)),
    throttled_since INTEGER,
    epoch INTEGER NOT NULL DEFAULT 0,
    worker TEXT,
    leased_at INTEGER,
    deadline_at INTEGER,
    error_class TEXT,
    last_error TEXT,
    summary TEXT NOT NULL DEFAULT '',
    input TEXT NOT NULL,
    normalized TEXT,
    result TEXT,
    CHECK ((status = 'PROCESSING') = (worker IS NOT NULL)),
    CHECK ((status = 'PROCESSING') = (leased_at IS NOT NULL)),
    CHECK ((status = 'PROCESSING') = (deadline_at IS NOT NULL)),
    CHECK (status != 'ERROR' OR error_class IS NOT NULL),
    CHECK ((status IN ('DONE', 'REVIEW')) = (result IS NOT NULL))
);
CREATE UNIQUE INDEX items_by_key ON items (job_id, key);
CREATE INDEX items_in_order ON items (job_id, id);
CREATE INDEX items_claimable ON items (job_id, due_at, id)
WHERE status = 'PENDING' AND suspect = 0;
CREATE INDEX items_suspect ON items (job_id, due_at, id)
WHERE status = 'PENDING' AND suspect = 1;
CREATE INDEX items_by_status ON items (job_id, status, updated_at, id);
-- Across jobs, what came to rest and may need somebody. Open items are few jobs' and are found
-- through those jobs, so that a claim and its settlement need not touch this index.
CREATE INDEX items_across_jobs ON items (status, owner, updated_at, id)
WHERE status IN ('REVIEW', 'ERROR', 'NOT_FOUND');

CREATE TABLE attempts (
    item_id INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    number INTEGER NOT NULL,
    worker TEXT NOT NULL,
    strategy INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    error_class TEXT,
    reason TEXT,
    leased_at INTEGER NOT NULL,
    waited_us INTEGER NOT NULL,
    ran_us INTEGER NOT NULL,
    ended_at INTEGER NOT NULL,
    PRIMARY KEY (item_id, epoch)
) WITHOUT ROWID;

CREATE TABLE job_counts (
    job_id INTEGER NOT NULL,
    shard INTEGER NOT NULL,
    status TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (job_id, shard, status)
) WITHOUT ROWID;

CREATE TABLE job_columns (
    job_id INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (job_id, name)
) WITHOUT ROWID;

CREATE TABLE workers (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    host TEXT NOT NULL,
    boot_id TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started_ticks INTEGER NOT NULL,
    version TEXT NOT NULL,
    ttl_s REAL NOT NULL,
    jobs TEXT NOT NULL DEFAULT '[]',
    beat INTEGER NOT NULL DEFAULT 0,
    registered_at INTEGER NOT NULL,
    beat_at INTEGER NOT NULL,
    stopped_at INTEGER,
    stop_reason TEXT
) WITHOUT ROWID;
CREATE INDEX workers_alive ON workers (registered_at) WHERE stopped_at IS NULL;

CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    job_id INTEGER,
    command TEXT NOT NULL,
    worker_count INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    settled INTEGER NOT NULL DEFAULT 0,
    items_per_s REAL
) WITHOUT ROWID;

CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    job_id INTEGER,
    item_id INTEGER,
    kind TEXT NOT NULL,
    message TEXT NOT NULL
);
CREATE INDEX events_by_job ON events (job_id, id);

CREATE TABLE duties (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    until_at INTEGER NOT NULL
) WITHOUT ROWID;
