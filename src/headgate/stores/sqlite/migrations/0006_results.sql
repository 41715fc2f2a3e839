-- What became of an item may be told at every end, not only where there was success.

-- SQLite changes no rule of a table but by rewriting its text, which is its documented way for
-- rules that say nothing of how rows are stored.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(
    sql,
    'CHECK ((status IN (''DONE'', ''REVIEW'')) = (result IS NOT NULL))',
    'CHECK (status NOT IN (''DONE'', ''REVIEW'') OR result IS NOT NULL),
    CHECK (status NOT IN (''PENDING'', ''PROCESSING'', ''CANCELLED'') OR result IS NULL)'
)
WHERE type = 'table' AND name = 'items';
PRAGMA writable_schema = RESET;
