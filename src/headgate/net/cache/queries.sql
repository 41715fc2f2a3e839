-- Named statements of the cache's index. A batch is one JSON parameter, and its bytes are another,
-- so the number of statements does not grow with the batch: each one costs a change of threads.

-- name: find
SELECT id, variant, vary, status, born_at, fresh_until, used_at, size, headers, blob,
    CASE WHEN vary = '' THEN body END
FROM entries WHERE key = :key

-- name: body
SELECT body FROM entries WHERE id = :id

-- name: knows_url
SELECT 1 FROM entries WHERE url = :url LIMIT 1

-- name: forget
DELETE FROM entries WHERE url IN (SELECT value FROM json_each(:urls))
RETURNING blob

-- name: discard
-- An entry without an id was written after it was read: drop the row with its key and variant.
DELETE FROM entries WHERE id IN (
    SELECT entries.id FROM json_each(:dropped) dropped
    JOIN entries ON entries.key = dropped.value ->> 0 AND entries.variant = dropped.value ->> 1
    WHERE dropped.value ->> 2 IN (0, entries.id)
)
RETURNING blob

-- name: evict
DELETE FROM entries WHERE id IN (SELECT value FROM json_each(:ids))
RETURNING blob

-- name: freshen
UPDATE entries SET
    headers = substr(:bytes, fresh.value ->> 'headers_at', fresh.value ->> 'headers_size'),
    born_at = fresh.value ->> 'born_at',
    fresh_until = fresh.value ->> 'fresh_until',
    used_at = fresh.value ->> 'used_at'
FROM json_each(:entries) AS fresh
WHERE entries.id = fresh.value ->> 'id'

-- name: make_room
DELETE FROM entries WHERE (key, variant) IN (
    SELECT value ->> 'key', value ->> 'variant' FROM json_each(:entries)
)
RETURNING blob

-- name: put
INSERT INTO entries (
    key, variant, vary, url, status, born_at, fresh_until, used_at, size, headers, blob, body
)
SELECT
    value ->> 'key', value ->> 'variant', value ->> 'vary', value ->> 'url', value ->> 'status',
    value ->> 'born_at', value ->> 'fresh_until', value ->> 'used_at', value ->> 'size',
    substr(:bytes, value ->> 'headers_at', value ->> 'headers_size'),
    value ->> 'blob',
    CASE WHEN value ->> 'blob' IS NULL THEN substr(:bytes, value ->> 'body_at', value ->> 'size') END
FROM json_each(:entries)

-- name: use
UPDATE entries SET used_at = max(used_at, used.value)
FROM json_each(:used) AS used
WHERE entries.id = CAST(used.key AS INTEGER)

-- name: bytes
SELECT bytes FROM state

-- name: least_used
SELECT id, size FROM entries ORDER BY used_at

-- name: loose
SELECT value FROM json_each(:blobs)
WHERE NOT EXISTS (SELECT 1 FROM entries WHERE entries.blob = json_each.value)

-- name: begin_sweep
UPDATE state SET swept_at = :now WHERE swept_at <= :before
RETURNING 1
