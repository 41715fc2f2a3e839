-- What all processes know of each limit. Only the core reads the state. A forgotten gate keeps its
-- row without a state: were its version to start again, an old proposal might fit by chance.
-- A busy row is rewritten every second by every process: room on the page keeps that in place.

CREATE TABLE gates (
    key text COLLATE "C" PRIMARY KEY,
    version bigint NOT NULL CHECK (version > 0),
    state text,
    ticket text NOT NULL,
    updated_at bigint NOT NULL,
    urgent_at bigint NOT NULL DEFAULT 0,
    urgent_by text NOT NULL DEFAULT ''
) WITH (fillfactor = 50);
CREATE INDEX gates_urgent ON gates (urgent_at);
