-- Mirrors: durable copies of sources. A pass is a job over a mirror; rows belong to the mirror and
-- outlive the job.

CREATE TABLE mirrors (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner TEXT NOT NULL,
    name TEXT NOT NULL CHECK (name != ''),
    source TEXT NOT NULL,
    digest TEXT NOT NULL,
    history INTEGER NOT NULL CHECK (history IN (0, 1)),
    created_at INTEGER NOT NULL,
    UNIQUE (owner, name)
);

-- `full_pass` is the last full pass that may delete: rows that no pass has seen since are deleted.
CREATE TABLE streams (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    mirror_id INTEGER NOT NULL REFERENCES mirrors (id),
    name TEXT NOT NULL CHECK (name != ''),
    watermark TEXT,
    watermark_pass INTEGER NOT NULL DEFAULT 0,
    full_pass INTEGER NOT NULL DEFAULT 0,
    live INTEGER NOT NULL DEFAULT 0 CHECK (live >= 0),
    UNIQUE (mirror_id, name)
);

-- The head of a row is small and changes in every pass; its body is large and changes rarely.
CREATE TABLE mirror_rows (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    stream_id INTEGER NOT NULL,
    id TEXT NOT NULL CHECK (id != ''),
    hash TEXT NOT NULL CHECK (hash != ''),
    updated TEXT,
    parent TEXT,
    deleted INTEGER NOT NULL CHECK (deleted IN (0, 1)),
    first_pass INTEGER NOT NULL,
    seen_pass INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    CHECK (seen_pass >= first_pass)
);
CREATE UNIQUE INDEX mirror_rows_by_id ON mirror_rows (stream_id, id);
CREATE INDEX mirror_rows_in_order ON mirror_rows (stream_id, number);

CREATE TABLE mirror_bodies (
    number INTEGER PRIMARY KEY,
    body TEXT NOT NULL
);

-- What passes changed. A row that was added says so itself (`first_pass`), and absence is derived.
CREATE TABLE row_changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    stream_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    pass_id INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('changed', 'deleted', 'restored')),
    before TEXT,
    at INTEGER NOT NULL
);
CREATE INDEX row_changes_by_stream ON row_changes (stream_id, id);
CREATE INDEX row_changes_by_row ON row_changes (number, id);
CREATE INDEX row_changes_by_age ON row_changes (at);

CREATE TABLE stream_fields (
    stream_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    types INTEGER NOT NULL CHECK (types > 0),
    ordinal INTEGER NOT NULL,
    first_pass INTEGER NOT NULL,
    PRIMARY KEY (stream_id, name)
) WITHOUT ROWID;

-- The state of one stream in one pass. It belongs to the mirror, and outlives its job once it is
-- complete: the times of deletions derive from it. `deletes` marks those that moved `full_pass`.
CREATE TABLE checkpoints (
    job_id INTEGER NOT NULL,
    name TEXT NOT NULL CHECK (name != ''),
    mirror_id INTEGER NOT NULL,
    stream_id INTEGER NOT NULL,
    after_checkpoint TEXT NOT NULL DEFAULT '',
    mode TEXT NOT NULL CHECK (mode IN ('full', 'incremental')),
    since TEXT,
    closing TEXT NOT NULL,
    closings INTEGER NOT NULL DEFAULT 0,
    pages INTEGER NOT NULL DEFAULT 0,
    added INTEGER NOT NULL DEFAULT 0,
    changed INTEGER NOT NULL DEFAULT 0,
    unchanged INTEGER NOT NULL DEFAULT 0,
    repeated INTEGER NOT NULL DEFAULT 0,
    total INTEGER,
    started_at INTEGER NOT NULL,
    completed_at INTEGER,
    proof TEXT CHECK (proof IN ('covered', 'chained', 'counted', 'unproven')),
    evidence TEXT,
    deletes INTEGER NOT NULL DEFAULT 0 CHECK (deletes IN (0, 1)),
    PRIMARY KEY (job_id, name),
    CHECK ((completed_at IS NULL) = (proof IS NULL)),
    CHECK ((completed_at IS NULL) = (evidence IS NULL)),
    CHECK (deletes = 0 OR (mode = 'full' AND completed_at IS NOT NULL AND proof != 'unproven'))
) WITHOUT ROWID;
CREATE INDEX checkpoints_by_mirror ON checkpoints (mirror_id, job_id);
CREATE INDEX checkpoints_that_delete ON checkpoints (stream_id, job_id) WHERE deletes = 1;

ALTER TABLE jobs ADD COLUMN mirror_id INTEGER;
CREATE INDEX jobs_by_mirror ON jobs (mirror_id, id) WHERE mirror_id IS NOT NULL;

-- The checkpoint that stays open until the item has ended well; empty: none.
ALTER TABLE items ADD COLUMN checkpoint TEXT NOT NULL DEFAULT '';
CREATE INDEX items_by_checkpoint ON items (job_id, checkpoint, status)
WHERE checkpoint != '' AND status != 'DONE';
