-- What all processes know of each limit. Only the core reads the state. A forgotten gate keeps its
-- row without a state: were its version to start again, an old proposal might fit by chance.

CREATE TABLE gates (
    key TEXT NOT NULL PRIMARY KEY,
    version INTEGER NOT NULL CHECK (version > 0),
    state TEXT,
    ticket TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    urgent_at INTEGER NOT NULL DEFAULT 0,
    urgent_by TEXT NOT NULL DEFAULT ''
);
CREATE INDEX gates_urgent ON gates (urgent_at);
