-- The index of the cache. Times are UTC microseconds. A file of another version is made anew.

CREATE TABLE entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again, so that nobody reads another's body
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
    body BLOB, -- last, so that the rest is read without it
    UNIQUE (key, variant),
    CHECK ((body IS NULL) != (blob IS NULL)),
    CHECK ((vary = '') = (variant = ''))
);
CREATE INDEX entries_by_url ON entries (url);
CREATE INDEX entries_by_use ON entries (used_at, size);
CREATE INDEX entries_by_blob ON entries (blob) WHERE blob IS NOT NULL;

-- How much there is, so that nobody has to count.
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
