-- The index of the cache. Times are UTC microseconds. A file of another version is replaced.

CREATE TABLE entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused, so that a reader never gets another entry's body
    key TEXT NOT NULL,
    variant TEXT NOT NULL,
    vary TEXT NOT NULL,
    url TEXT NOT NULL,
    status INTEGER NOT NULL,
    born_at INTEGER NOT NULL,
    fresh_until INTEGER NOT NULL,
    used_at INTEGER NOT NULL,
    size INTEGER NOT NULL CHECK (size >= 0),
    headers BLOB NOT NULL,
    blob TEXT,
    body BLOB, -- last, so that the other columns are read without it
    UNIQUE (key, variant),
    CHECK ((body IS NULL) != (blob IS NULL)),
    CHECK ((vary = '') = (variant = ''))
);
CREATE INDEX entries_by_url ON entries (url);
CREATE INDEX entries_by_use ON entries (used_at, size);
CREATE INDEX entries_by_blob ON entries (blob) WHERE blob IS NOT NULL;

-- The sum of all sizes, which the triggers keep.
CREATE TABLE state (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    swept_at INTEGER NOT NULL
);
INSERT INTO state (only, bytes, swept_at) VALUES (1, 0, 0);

CREATE TRIGGER entry_added AFTER INSERT ON entries BEGIN
    UPDATE state SET bytes = bytes + new.size;
END;
CREATE TRIGGER entry_removed AFTER DELETE ON entries BEGIN
    UPDATE state SET bytes = bytes - old.size;
END;
