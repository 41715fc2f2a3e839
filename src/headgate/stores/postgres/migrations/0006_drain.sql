-- A worker that was asked to finish what it runs, and to end.
ALTER TABLE workers ADD COLUMN drain_at bigint;
