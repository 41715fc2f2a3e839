-- Named statements of the PostgreSQL store. A comment above a statement gives a lock, a plan or a
-- surprise.

-- name: has_schema
SELECT to_regclass('schema_migrations') IS NOT NULL

-- name: schema
SELECT coalesce(max(number), 0) FROM schema_migrations

-- name: lock_migrations
-- One process at a time migrates; the lock ends with the transaction, which poolers keep on one
-- server connection.
SELECT pg_advisory_xact_lock(7235423894513)

-- name: create_migrations
CREATE TABLE IF NOT EXISTS schema_migrations (
    number integer PRIMARY KEY,
    name text NOT NULL,
    applied_at bigint NOT NULL
)

-- name: record_migration
-- The time is written directly: the first migration makes the clock.
INSERT INTO schema_migrations (number, name, applied_at)
VALUES (%(number)s, %(name)s, (extract(EPOCH FROM clock_timestamp()) * 1000000)::bigint)

-- name: configure
-- Every query here has an index for its order. A plan for unknown values would not pick a partial
-- index, and a planner with old statistics would read and sort a whole queue to take its head. The
-- same statistics make a batch look expensive enough to be compiled, which takes longer than
-- running it.
SET plan_cache_mode = force_custom_plan;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET jit = off

-- name: listen
-- Listen for notifications, and for urgent changes of gates.
LISTEN headgate;
LISTEN headgate_gates

-- name: ring
-- The payload names the sender, so that a process does not wake itself.
SELECT pg_notify('headgate', %(sender)s)

-- name: job
SELECT * FROM jobs WHERE id = %(job_id)s

-- name: lock_job
-- The job, locked until the transaction ends.
SELECT *, utc_us() AS now FROM jobs WHERE id = %(job_id)s FOR NO KEY UPDATE

-- name: jobs
-- Newest first.
SELECT
    id, owner, name, handler, source, key_columns, priority, state, open, eager, fingerprint,
    columns, ingest_run, ingest_position, ingest_complete, created_at, updated_at, started_at,
    finished_at, last_error, pause_reason, resume_at, file, client, ingest, mirror_id,
    CASE WHEN %(configs)s THEN config ELSE '{}' END AS config,
    CASE WHEN %(configs)s OR reading IS NULL THEN reading ELSE '{}' END AS reading,
    CASE WHEN %(configs)s OR options IS NULL THEN options ELSE '{}' END AS options
FROM jobs
WHERE (%(owner)s::text IS NULL OR owner = %(owner)s) AND (%(after_id)s = 0 OR id < %(after_id)s)
AND (%(states)s::text[] IS NULL OR state = ANY (%(states)s::text[]))
AND (%(handler)s::text IS NULL OR handler = %(handler)s)
AND (NOT %(read_by_server)s OR reading IS NOT NULL)
AND (
    %(text)s::text IS NULL
    OR name ILIKE %(text)s OR file ILIKE %(text)s
    OR name ILIKE %(lower)s OR file ILIKE %(lower)s
    OR name ILIKE %(upper)s OR file ILIKE %(upper)s
    OR name ILIKE %(title)s OR file ILIKE %(title)s
)
ORDER BY id DESC LIMIT %(limit)s

-- name: find_jobs
-- Newest first.
SELECT * FROM jobs
WHERE owner = %(owner)s AND handler = %(handler)s AND source = %(source)s
ORDER BY id DESC

-- name: similar_jobs
-- Jobs over the same content, or over a file of the same name in any folder; newest first.
SELECT * FROM jobs
WHERE owner = %(owner)s AND NOT open AND reading IS NULL
AND (
    (%(fingerprint)s != '' AND fingerprint = %(fingerprint)s)
    OR right(source, length(%(ending)s)) = %(ending)s
)
ORDER BY id DESC LIMIT 100

-- name: insert_job
-- An open job has no source to read.
WITH clock AS MATERIALIZED (SELECT utc_us() AS now)
INSERT INTO jobs (
    owner, name, handler, source, key_columns, config, priority, state, open, eager, fingerprint,
    columns, reading, file, client, options, ingest_complete, created_at, updated_at
)
SELECT
    %(owner)s, %(name)s, %(handler)s, %(source)s, %(key_columns)s, %(config)s, %(priority)s,
    CASE WHEN %(open)s THEN 'QUEUED' ELSE 'INGESTING' END, %(open)s, %(eager)s, %(fingerprint)s,
    %(columns)s, %(reading)s, %(file)s, %(client)s, %(options)s, %(open)s, clock.now, clock.now
FROM clock
RETURNING *

-- name: lock_owner
-- Serializes changes of an owner's usage; ends with the transaction.
SELECT pg_advisory_xact_lock(723542389, hashtext(%(owner)s))

-- name: made_once
SELECT digest, job_id FROM made_once WHERE owner = %(owner)s AND key = %(key)s

-- name: insert_made_once
INSERT INTO made_once (owner, key, digest, job_id, created_at)
VALUES (%(owner)s, %(key)s, %(digest)s, %(job_id)s, utc_us())

-- name: usage
SELECT
    (
        SELECT count(*) FROM jobs
        WHERE owner = %(owner)s AND state IN ('INGESTING', 'QUEUED', 'RUNNING', 'PAUSED')
    ),
    (
        SELECT coalesce(sum(c.n), 0)::bigint
        FROM jobs AS j JOIN job_counts AS c ON c.job_id = j.id
        WHERE j.owner = %(owner)s AND j.state IN ('INGESTING', 'QUEUED', 'RUNNING', 'PAUSED')
        AND c.status IN ('PENDING', 'PROCESSING')
    )

-- name: sources_to_read
-- The oldest sources of each owner that the server is to read.
SELECT id, owner, source FROM (
    SELECT id, owner, source, row_number() OVER (PARTITION BY owner ORDER BY id) AS place
    FROM jobs
    WHERE state = 'INGESTING' AND reading IS NOT NULL
) AS waiting
WHERE place <= %(per_user)s ORDER BY id

-- name: move_job
-- The row is locked and the move was checked before.
WITH clock AS MATERIALIZED (SELECT utc_us() AS now)
UPDATE jobs SET
    state = %(target)s,
    updated_at = clock.now,
    started_at = CASE
        WHEN %(target)s = 'RUNNING' THEN coalesce(started_at, clock.now) ELSE started_at
    END,
    finished_at = CASE WHEN %(target)s IN ('DONE', 'FAILED', 'CANCELLED') THEN clock.now END,
    last_error = CASE WHEN %(target)s = 'FAILED' THEN %(reason)s ELSE last_error END,
    pause_reason = CASE WHEN %(target)s = 'PAUSED' THEN %(reason)s END,
    resume_at = CASE WHEN %(target)s = 'PAUSED' THEN clock.now + %(resume_us)s::bigint END,
    ingest_complete = CASE
        WHEN %(target)s = 'INGESTING' THEN false
        WHEN state = 'INGESTING' AND %(target)s = 'QUEUED' THEN true
        ELSE ingest_complete
    END
FROM clock
WHERE id = %(job_id)s AND state = %(source)s
RETURNING jobs.*

-- name: rested
-- Paused jobs whose pause is over.
SELECT id FROM jobs WHERE state = 'PAUSED' AND resume_at <= utc_us()

-- name: reopen_ingest
WITH clock AS MATERIALIZED (SELECT utc_us() AS now)
UPDATE jobs SET
    state = CASE WHEN state = 'PAUSED' THEN 'PAUSED' ELSE 'INGESTING' END,
    fingerprint = %(fingerprint)s,
    ingest_run = ingest_run + 1,
    ingest_position = '',
    ingest_complete = false,
    finished_at = NULL,
    updated_at = clock.now
FROM clock
WHERE id = %(job_id)s AND state != 'CANCELLED'
RETURNING jobs.*

-- name: complete_ingest
WITH clock AS MATERIALIZED (SELECT utc_us() AS now)
UPDATE jobs SET
    state = CASE WHEN state = 'INGESTING' THEN 'QUEUED' ELSE state END,
    columns = %(columns)s,
    ingest_complete = true,
    updated_at = clock.now
FROM clock
WHERE id = %(job_id)s
RETURNING jobs.*

-- name: rebind_job
UPDATE jobs SET handler = %(handler)s, source = %(source)s, config = %(config)s,
    options = %(options)s, updated_at = utc_us()
WHERE id = %(job_id)s
RETURNING *

-- name: rebind_items
-- Writes the job's handler into some of its items.
UPDATE items SET handler = (SELECT j.handler FROM jobs AS j WHERE j.id = %(job_id)s)
WHERE job_id = %(job_id)s AND id IN (
    SELECT id FROM items WHERE job_id = %(job_id)s AND id > %(after_id)s ORDER BY id
    LIMIT %(limit)s
)
RETURNING id

-- name: unseen_bad_rows
-- Bad rows that the reading that just ended did not find.
SELECT i.id, i.status FROM items AS i JOIN jobs AS j ON j.id = i.job_id
WHERE i.job_id = %(job_id)s AND i.status IN ('ERROR', 'SKIPPED') AND i.error_class = 'bad_row'
AND i.ingest_run < j.ingest_run
LIMIT %(limit)s FOR UPDATE OF i

-- name: close_queue
UPDATE jobs SET open = false, updated_at = utc_us() WHERE id = %(job_id)s RETURNING *

-- name: set_priority
UPDATE jobs SET priority = %(priority)s, updated_at = utc_us() WHERE id = %(job_id)s RETURNING *

-- name: finish_job
-- DONE, if nothing is open. The row was locked before, so that no call adds open items meanwhile.
-- The first open item is read in order, for the same reason as in `demand`.
WITH clock AS MATERIALIZED (SELECT utc_us() AS now)
UPDATE jobs SET state = 'DONE', finished_at = clock.now, updated_at = clock.now
FROM clock
WHERE id = %(job_id)s AND state IN ('QUEUED', 'RUNNING') AND ingest_complete AND NOT open
AND (
    SELECT updated_at FROM items WHERE job_id = %(job_id)s AND status = 'PENDING'
    ORDER BY updated_at LIMIT 1
) IS NULL
AND (
    SELECT updated_at FROM items WHERE job_id = %(job_id)s AND status = 'PROCESSING'
    ORDER BY updated_at LIMIT 1
) IS NULL
RETURNING jobs.*

-- name: move_position
-- The row is locked and its position was compared before.
UPDATE jobs SET ingest_position = %(position)s WHERE id = %(job_id)s

-- name: tell_progress
UPDATE jobs SET ingest = %(progress)s WHERE id = %(job_id)s

-- name: insert_items
COPY items (
    key, input, line, gate, summary, checkpoint, last_error, error_class, status, signature, variant,
    job_id, owner, handler, ingest_run, updated_at
) FROM STDIN

-- name: newest_item
SELECT coalesce(max(id), 0) FROM items WHERE job_id = %(job_id)s

-- name: insert_keys
-- The keys of the rows just inserted; a key that the job already has is a unique violation.
INSERT INTO item_keys (job_id, key, item_id)
SELECT job_id, key, id FROM items WHERE job_id = %(job_id)s AND id > %(newest)s ORDER BY id

-- name: known_rows
-- The keys that the job already has.
SELECT i.key, i.id, i.line, i.ingest_run, i.input
FROM unnest(%(keys)s::text[]) AS given (key)
JOIN item_keys AS k ON k.job_id = %(job_id)s AND k.key = given.key
JOIN items AS i ON i.job_id = k.job_id AND i.id = k.item_id

-- name: see_again
-- Known rows that this reading of the source has found, and their lines.
UPDATE items SET ingest_run = %(run)s, line = seen.line
FROM unnest(%(ids)s::bigint[], %(lines)s::bigint[]) AS seen (id, line)
WHERE items.job_id = %(job_id)s AND items.id = seen.id AND items.ingest_run < %(run)s

-- name: add_counts
-- Counters change in one order, so that two changes never wait for one another.
INSERT INTO job_counts AS c (job_id, shard, status, n)
SELECT * FROM unnest(%(jobs)s::bigint[], %(shards)s::integer[], %(statuses)s::text[], %(n)s::bigint[])
AS given (job_id, shard, status, n)
ORDER BY job_id, shard, status
ON CONFLICT (job_id, shard, status) DO UPDATE SET n = c.n + excluded.n

-- name: counts
SELECT status, sum(n)::bigint FROM job_counts WHERE job_id = %(job_id)s GROUP BY status

-- name: situation
-- True if a row is due, when one was last finished, the workers that may run it, and whether other
-- jobs are running. A killed worker cannot say so: its heartbeat shows it.
WITH clock AS MATERIALIZED (SELECT utc_us() AS now)
SELECT clock.now,
    coalesce(due.at <= clock.now, false) OR coalesce(suspect.at <= clock.now, false),
    (
        SELECT max(last.at)
        FROM unnest('{DONE,NOT_FOUND,SKIPPED,REVIEW,ERROR}'::text[]) AS ended (status)
        CROSS JOIN LATERAL (
            SELECT updated_at AS at FROM items
            WHERE job_id = %(job_id)s AND status = ended.status
            ORDER BY updated_at DESC LIMIT 1
        ) AS last
    ),
    (
        SELECT count(*) FROM workers AS w
        WHERE w.stopped_at IS NULL AND clock.now - w.beat_at < (2 * w.ttl_s) * 1000000
        AND (w.jobs = '[]' OR w.jobs::jsonb @> to_jsonb(%(job_id)s::bigint))
    ),
    EXISTS (
        SELECT 1 FROM jobs AS other CROSS JOIN LATERAL (
            SELECT 1 FROM items AS i
            WHERE i.job_id = other.id AND i.status = 'PROCESSING'
            ORDER BY i.updated_at LIMIT 1
        ) AS busy
        WHERE other.state = 'RUNNING' AND other.id != %(job_id)s
    )
FROM clock
LEFT JOIN LATERAL (
    SELECT due_at AS at FROM items
    WHERE job_id = %(job_id)s AND status = 'PENDING' AND NOT suspect
    ORDER BY due_at LIMIT 1
) AS due ON true
LEFT JOIN LATERAL (
    SELECT due_at AS at FROM items
    WHERE job_id = %(job_id)s AND status = 'PENDING' AND suspect
    ORDER BY due_at LIMIT 1
) AS suspect ON true

-- name: deferrals
-- Rows that are due later, grouped by reason, each group with the text of its first row.
SELECT coalesce(error_class, ''), gate, count(*), min(due_at),
    coalesce((array_agg(last_error ORDER BY due_at))[1], '')
FROM (
    SELECT error_class, gate, due_at, last_error FROM items
    WHERE job_id = %(job_id)s AND status = 'PENDING' AND NOT suspect AND due_at > %(after)s
    ORDER BY due_at LIMIT %(limit)s
) AS later
GROUP BY 1, 2 ORDER BY 4

-- name: handler_time
-- Handler time of the rows that were done last.
SELECT avg(ran_us)::float8 FROM attempts
WHERE outcome = 'done' AND item_id IN (
    SELECT id FROM items
    WHERE job_id = %(job_id)s AND status = 'DONE' ORDER BY updated_at DESC LIMIT %(limit)s
)

-- name: fresh_after
-- The position behind a share of the fresh rows; each end is one index read.
SELECT least + floor((most - least) * %(skipped)s::float8)::bigint FROM (
    SELECT min(id) AS least, max(id) AS most FROM items
    WHERE job_id = %(job_id)s AND status = 'PENDING' AND NOT suspect AND due_at = 0
) AS ends WHERE least IS NOT NULL

-- name: claim
-- Leases due items. The worker's row is locked for share, so that the worker cannot be retired
-- during the claim. Planned at each call: only then does the planner know which partial index
-- `suspects` means. Some items are due retries, most are fresh rows; more retries follow if fresh
-- rows are too few.
WITH clock AS MATERIALIZED (SELECT utc_us() AS now),
allowed AS MATERIALIZED (
    SELECT j.state FROM jobs AS j CROSS JOIN workers AS w
    WHERE j.id = %(job_id)s
    AND (j.state IN ('QUEUED', 'RUNNING') OR (j.state = 'INGESTING' AND j.eager))
    AND w.id = %(worker)s AND w.stopped_at IS NULL
    FOR SHARE OF w
),
retries AS MATERIALIZED (
    SELECT i.ctid FROM items AS i
    WHERE i.job_id = %(job_id)s AND i.status = 'PENDING' AND i.suspect = %(suspects)s
    AND i.due_at > 0 AND i.due_at <= (SELECT now FROM clock)
    AND EXISTS (SELECT FROM allowed)
    AND (%(ids)s::bigint[] IS NULL OR i.id = ANY (%(ids)s::bigint[]))
    ORDER BY i.due_at, i.id LIMIT %(retries)s
    FOR UPDATE OF i SKIP LOCKED
),
fresh AS MATERIALIZED (
    SELECT i.ctid FROM items AS i
    WHERE i.job_id = %(job_id)s AND i.status = 'PENDING' AND i.suspect = %(suspects)s
    AND i.due_at = 0 AND i.id >= %(first)s AND EXISTS (SELECT FROM allowed)
    AND (%(ids)s::bigint[] IS NULL OR i.id = ANY (%(ids)s::bigint[]))
    ORDER BY i.due_at, i.id LIMIT %(limit)s - (SELECT count(*) FROM retries)
    FOR UPDATE OF i SKIP LOCKED
),
more_retries AS MATERIALIZED (
    SELECT i.ctid FROM items AS i
    WHERE i.job_id = %(job_id)s AND i.status = 'PENDING' AND i.suspect = %(suspects)s
    AND i.due_at > 0 AND i.due_at <= (SELECT now FROM clock)
    AND EXISTS (SELECT FROM allowed)
    AND i.ctid != ALL (ARRAY(SELECT ctid FROM retries))
    AND (%(ids)s::bigint[] IS NULL OR i.id = ANY (%(ids)s::bigint[]))
    ORDER BY i.due_at, i.id
    LIMIT %(limit)s - (SELECT count(*) FROM retries) - (SELECT count(*) FROM fresh)
    FOR UPDATE OF i SKIP LOCKED
),
claimed AS (
    UPDATE items AS i SET
        status = 'PROCESSING', worker = %(worker)s, epoch = i.epoch + 1, leased_at = clock.now,
        deadline_at = clock.now + %(lease_us)s, updated_at = clock.now
    FROM clock
    WHERE i.ctid = ANY (ARRAY(
        SELECT ctid FROM retries UNION ALL SELECT ctid FROM fresh
        UNION ALL SELECT ctid FROM more_retries
    ))
    RETURNING i.due_at, i.id, i.job_id, i.key, i.input, i.normalized, i.epoch, i.attempts,
        i.failures, i.crashes, i.strategy, i.suspect,
        coalesce(clock.now - i.throttled_since, 0) AS throttled_us, i.gate, i.leased_at
),
counted AS (
    INSERT INTO job_counts AS c (job_id, shard, status, n)
    SELECT %(job_id)s, %(shard)s, moved.status, moved.n
    FROM (SELECT count(*) AS n FROM claimed) AS total
    CROSS JOIN LATERAL (VALUES ('PENDING', -total.n), ('PROCESSING', total.n)) AS moved (status, n)
    WHERE total.n > 0
    ORDER BY moved.status
    ON CONFLICT (job_id, shard, status) DO UPDATE SET n = c.n + excluded.n
),
started AS (
    UPDATE jobs SET
        state = 'RUNNING', started_at = coalesce(started_at, clock.now), updated_at = clock.now
    FROM clock
    WHERE id = %(job_id)s AND state = 'QUEUED'
    AND EXISTS (SELECT FROM allowed WHERE allowed.state = 'QUEUED') AND EXISTS (SELECT FROM claimed)
    RETURNING id, owner
),
announced AS (
    INSERT INTO events (at, job_id, kind, message, owner)
    SELECT clock.now, started.id, 'job_state', 'started', started.owner
    FROM started, clock
)
SELECT id, job_id, key, input, normalized, epoch, attempts, failures, crashes, strategy, suspect,
    throttled_us, gate, leased_at
FROM claimed ORDER BY due_at, id

-- name: claim_by_gate
-- The same from open gates, retries and fresh rows at each; then items without a gate.
WITH RECURSIVE clock AS MATERIALIZED (SELECT utc_us() AS now),
allowed AS MATERIALIZED (
    SELECT j.state FROM jobs AS j CROSS JOIN workers AS w
    WHERE j.id = %(job_id)s
    AND (j.state IN ('QUEUED', 'RUNNING') OR (j.state = 'INGESTING' AND j.eager))
    AND w.id = %(worker)s AND w.stopped_at IS NULL
    FOR SHARE OF w
),
-- One index read for each gate, whatever the number of its items; after the last gate comes the
-- first.
gates AS (
    SELECT %(after)s AS gate, 0 AS n, false AS round
    UNION ALL
    SELECT next.gate, gates.n + (next.gate != ALL (%(closed)s::text[]))::integer,
        gates.round OR ahead.gate IS NULL
    FROM gates LEFT JOIN LATERAL (
        SELECT i.gate FROM items AS i
        WHERE i.job_id = %(job_id)s AND i.status = 'PENDING' AND NOT i.suspect AND i.gate != ''
        AND i.gate > gates.gate AND (NOT gates.round OR i.gate <= %(after)s)
        ORDER BY i.gate LIMIT 1
    ) AS ahead ON true LEFT JOIN LATERAL (
        SELECT i.gate FROM items AS i
        WHERE i.job_id = %(job_id)s AND i.status = 'PENDING' AND NOT i.suspect AND i.gate != ''
        AND i.gate <= %(after)s AND ahead.gate IS NULL AND NOT gates.round
        ORDER BY i.gate LIMIT 1
    ) AS behind ON true CROSS JOIN LATERAL coalesce(ahead.gate, behind.gate) AS next (gate)
    WHERE gates.n < %(gate_limit)s AND next.gate IS NOT NULL
),
open_gates AS MATERIALIZED (
    SELECT gate FROM gates WHERE n > 0 AND gate != ALL (%(closed)s::text[])
),
each AS MATERIALIZED (
    SELECT ceil(%(limit)s::numeric / greatest(count(*), 1))::bigint AS n,
        ceil(%(retries)s::numeric / greatest(count(*), 1))::bigint AS retries
    FROM open_gates
),
retries_at AS MATERIALIZED (
    SELECT due.ctid, open_gates.gate FROM open_gates CROSS JOIN LATERAL (
        SELECT i.ctid FROM items AS i
        WHERE i.job_id = %(job_id)s AND i.status = 'PENDING' AND NOT i.suspect AND i.gate != ''
        AND i.gate = open_gates.gate AND i.due_at > 0 AND i.due_at <= (SELECT now FROM clock)
        AND EXISTS (SELECT FROM allowed)
        ORDER BY i.due_at, i.id LIMIT (SELECT retries FROM each)
        FOR UPDATE OF i SKIP LOCKED
    ) AS due
    LIMIT %(retries)s
),
fresh_at AS MATERIALIZED (
    SELECT due.ctid, open_gates.gate FROM open_gates CROSS JOIN LATERAL (
        SELECT i.ctid FROM items AS i
        WHERE i.job_id = %(job_id)s AND i.status = 'PENDING' AND NOT i.suspect AND i.gate != ''
        AND i.gate = open_gates.gate AND i.due_at = 0 AND EXISTS (SELECT FROM allowed)
        ORDER BY i.due_at, i.id
        LIMIT (SELECT n FROM each) - (
            SELECT count(*) FROM retries_at WHERE retries_at.gate = open_gates.gate
        )
        FOR UPDATE OF i SKIP LOCKED
    ) AS due
    LIMIT %(limit)s - (SELECT count(*) FROM retries_at)
),
more_at AS MATERIALIZED (
    SELECT due.ctid FROM open_gates CROSS JOIN LATERAL (
        SELECT i.ctid FROM items AS i
        WHERE i.job_id = %(job_id)s AND i.status = 'PENDING' AND NOT i.suspect AND i.gate != ''
        AND i.gate = open_gates.gate AND i.due_at > 0 AND i.due_at <= (SELECT now FROM clock)
        AND EXISTS (SELECT FROM allowed) AND i.ctid != ALL (ARRAY(SELECT ctid FROM retries_at))
        ORDER BY i.due_at, i.id
        LIMIT (SELECT n FROM each)
            - (SELECT count(*) FROM retries_at WHERE retries_at.gate = open_gates.gate)
            - (SELECT count(*) FROM fresh_at WHERE fresh_at.gate = open_gates.gate)
        FOR UPDATE OF i SKIP LOCKED
    ) AS due
    LIMIT %(limit)s - (SELECT count(*) FROM retries_at) - (SELECT count(*) FROM fresh_at)
),
missing AS MATERIALIZED (
    SELECT %(limit)s - (SELECT count(*) FROM retries_at) - (SELECT count(*) FROM fresh_at)
        - (SELECT count(*) FROM more_at) AS n
),
-- Items of closed gates may come before items without a gate, so the read is bounded.
first_due AS MATERIALIZED (
    SELECT i.ctid, i.gate, i.due_at, i.id FROM items AS i
    WHERE i.job_id = %(job_id)s AND i.status = 'PENDING' AND NOT i.suspect
    AND i.due_at <= (SELECT now FROM clock) AND EXISTS (SELECT FROM allowed)
    AND (SELECT n FROM missing) > 0
    ORDER BY i.due_at, i.id LIMIT %(ungated)s
),
ungated AS MATERIALIZED (
    SELECT i.ctid FROM items AS i
    WHERE i.ctid = ANY (ARRAY(
        SELECT ctid FROM first_due WHERE gate = '' ORDER BY due_at, id LIMIT (SELECT n FROM missing)
    ))
    AND i.status = 'PENDING'
    FOR UPDATE OF i SKIP LOCKED
),
claimed AS (
    UPDATE items AS i SET
        status = 'PROCESSING', worker = %(worker)s, epoch = i.epoch + 1, leased_at = clock.now,
        deadline_at = clock.now + %(lease_us)s, updated_at = clock.now
    FROM clock
    WHERE i.ctid = ANY (ARRAY(
        SELECT ctid FROM retries_at UNION ALL SELECT ctid FROM fresh_at
        UNION ALL SELECT ctid FROM more_at UNION ALL SELECT ctid FROM ungated
    ))
    RETURNING i.due_at, i.id, i.job_id, i.key, i.input, i.normalized, i.epoch, i.attempts,
        i.failures, i.crashes, i.strategy, i.suspect,
        coalesce(clock.now - i.throttled_since, 0) AS throttled_us, i.gate, i.leased_at
),
counted AS (
    INSERT INTO job_counts AS c (job_id, shard, status, n)
    SELECT %(job_id)s, %(shard)s, moved.status, moved.n
    FROM (SELECT count(*) AS n FROM claimed) AS total
    CROSS JOIN LATERAL (VALUES ('PENDING', -total.n), ('PROCESSING', total.n)) AS moved (status, n)
    WHERE total.n > 0
    ORDER BY moved.status
    ON CONFLICT (job_id, shard, status) DO UPDATE SET n = c.n + excluded.n
),
started AS (
    UPDATE jobs SET
        state = 'RUNNING', started_at = coalesce(started_at, clock.now), updated_at = clock.now
    FROM clock
    WHERE id = %(job_id)s AND state = 'QUEUED'
    AND EXISTS (SELECT FROM allowed WHERE allowed.state = 'QUEUED') AND EXISTS (SELECT FROM claimed)
    RETURNING id, owner
),
announced AS (
    INSERT INTO events (at, job_id, kind, message, owner)
    SELECT clock.now, started.id, 'job_state', 'started', started.owner
    FROM started, clock
)
SELECT id, job_id, key, input, normalized, epoch, attempts, failures, crashes, strategy, suspect,
    throttled_us, gate, leased_at
FROM claimed ORDER BY nullif(gate, ''), due_at, id

-- name: undelivered
-- Leases of a claim whose answer was lost: later than the last one that arrived.
SELECT id, job_id, key, input, normalized, epoch, attempts, failures, crashes, strategy, suspect,
    coalesce(utc_us() - throttled_since, 0), gate, leased_at
FROM items
WHERE status = 'PROCESSING' AND worker = %(worker)s AND job_id = %(job_id)s
AND leased_at > %(delivered)s
ORDER BY due_at, id

-- name: settle_items
-- Ends leases whose epoch still matches, records attempts, counts, and returns the refused items.
WITH clock AS MATERIALIZED (SELECT utc_us() AS now),
given AS MATERIALIZED (
    SELECT * FROM unnest(
        %(item_id)s::bigint[], %(job_id)s::bigint[], %(epoch)s::bigint[], %(status)s::text[],
        %(outcome)s::text[], %(attempts)s::integer[], %(failures)s::integer[],
        %(crashes)s::integer[], %(strategy)s::integer[], %(suspect)s::boolean[],
        %(throttled)s::boolean[], %(due_in_us)s::bigint[], %(result)s::text[],
        %(normalized)s::text[], %(error_class)s::text[], %(reason)s::text[],
        %(waited_us)s::bigint[], %(ran_us)s::bigint[], %(calls)s::text[], %(gate)s::text[],
        %(signature)s::text[], %(digest)s::text[], %(variant)s::text[], %(trace)s::text[]
    ) AS given (
        item_id, job_id, epoch, status, outcome, attempts, failures, crashes, strategy, suspect,
        throttled, due_in_us, result, normalized, error_class, reason, waited_us, ran_us, calls,
        gate, signature, digest, variant, trace
    )
),
-- The lateral read forces one look-up by id for each row, in the order given; the lock keeps the
-- rows unchanged until the end. CASE hides the guard from the planner, which would expect one row
-- to pass it and then compare every row with every other.
held AS MATERIALIZED (
    SELECT given.*, was.place, was.number, was.strategy AS tried, was.leased_at, was.owner
    FROM given CROSS JOIN LATERAL (
        SELECT i.ctid AS place, i.status, i.epoch, i.worker, i.attempts + 1 AS number, i.strategy,
            i.leased_at, i.owner
        FROM items AS i WHERE i.job_id = given.job_id AND i.id = given.item_id
        FOR UPDATE
    ) AS was
    WHERE CASE
        WHEN was.status = 'PROCESSING' AND was.epoch = given.epoch AND was.worker = %(worker)s
        THEN true ELSE false
    END
),
settled AS (
    UPDATE items AS i SET
        status = held.status, attempts = held.attempts, failures = held.failures,
        crashes = held.crashes, strategy = held.strategy, suspect = held.suspect,
        throttled_since = CASE WHEN held.throttled THEN coalesce(i.throttled_since, clock.now) END,
        due_at = CASE WHEN held.due_in_us > 0 THEN clock.now + held.due_in_us ELSE 0 END,
        result = held.result, normalized = coalesce(held.normalized, i.normalized),
        gate = coalesce(held.gate, i.gate),
        error_class = held.error_class, last_error = held.reason, signature = held.signature,
        variant = held.variant,
        worker = NULL, leased_at = NULL, deadline_at = NULL, updated_at = clock.now
    FROM held, clock
    WHERE i.ctid = ANY (ARRAY(SELECT place FROM held)) AND i.id = held.item_id
),
recorded AS (
    INSERT INTO attempts (
        item_id, epoch, number, worker, strategy, outcome, error_class, reason, leased_at,
        waited_us, ran_us, ended_at, calls, trace
    )
    SELECT item_id, epoch, number, %(worker)s, tried, outcome, error_class, reason, leased_at,
        waited_us, ran_us, clock.now, calls, trace
    FROM held, clock
),
-- In order of digest, which is the order of locks.
kept AS (
    INSERT INTO reusable (owner, digest, job_id, item_id, finished_at)
    SELECT DISTINCT ON (owner, digest) owner, digest, job_id, item_id, clock.now FROM held, clock
    WHERE digest IS NOT NULL AND status = 'DONE'
    ORDER BY owner, digest, item_id DESC
    ON CONFLICT (owner, digest) DO UPDATE SET
        job_id = excluded.job_id, item_id = excluded.item_id, finished_at = excluded.finished_at
),
counted AS (
    INSERT INTO job_counts AS c (job_id, shard, status, n)
    SELECT job_id, %(shard)s, status, sum(n) FROM (
        SELECT job_id, status, count(*) AS n FROM held GROUP BY job_id, status
        UNION ALL
        SELECT job_id, 'PROCESSING', -count(*) FROM held GROUP BY job_id
    ) AS moved
    GROUP BY job_id, status ORDER BY job_id, status
    ON CONFLICT (job_id, shard, status) DO UPDATE SET n = c.n + excluded.n
),
-- A batch that is sent again because its answer was lost finds its own attempts: these are not
-- refusals.
refused AS MATERIALIZED (
    SELECT given.* FROM given
    WHERE given.item_id NOT IN (SELECT item_id FROM held)
    AND NOT (
        %(again)s AND EXISTS (
            SELECT FROM attempts AS a
            WHERE a.item_id = given.item_id AND a.epoch = given.epoch AND a.worker = %(worker)s
        )
    )
),
warned AS (
    INSERT INTO events (at, job_id, item_id, kind, message, owner)
    SELECT clock.now, job_id, item_id, 'discarded',
        format('result %%s of epoch %%s by %%s came too late', outcome, epoch, %(worker)s::text),
        (SELECT jobs.owner FROM jobs WHERE jobs.id = refused.job_id)
    FROM refused, clock
)
SELECT item_id FROM refused

-- name: recall
-- Results of an owner by digest, if they still exist.
SELECT r.digest, r.item_id, i.result
FROM unnest(%(digests)s::text[]) AS given (digest)
JOIN reusable AS r ON r.owner = %(owner)s AND r.digest = given.digest
JOIN items AS i ON i.job_id = r.job_id AND i.id = r.item_id
WHERE i.status = 'DONE' AND r.finished_at >= (SELECT utc_us()) - %(within_us)s

-- name: delete_reusable
DELETE FROM reusable WHERE item_id = ANY (%(ids)s::bigint[])

-- name: insert_columns
-- Names that a job's results use for the first time.
INSERT INTO job_columns (job_id, ordinal, name)
SELECT
    %(job_id)s,
    (SELECT count(*) FROM job_columns WHERE job_id = %(job_id)s) + given.ordinal - 1,
    given.name
FROM unnest(%(names)s::text[]) WITH ORDINALITY AS given (name, ordinal)
ON CONFLICT (job_id, name) DO NOTHING

-- name: release_items
-- Returns leases that were never started.
WITH held AS MATERIALIZED (
    SELECT i.ctid FROM jobs AS j JOIN items AS i ON i.job_id = j.id
    WHERE j.state != 'DONE' AND i.status = 'PROCESSING' AND i.worker = %(worker)s
    AND (i.id, i.epoch) IN (SELECT * FROM unnest(%(ids)s::bigint[], %(epochs)s::bigint[]))
    ORDER BY i.id
    FOR UPDATE OF i
)
UPDATE items SET
    status = 'PENDING', worker = NULL, leased_at = NULL, deadline_at = NULL, updated_at = utc_us()
WHERE ctid = ANY (ARRAY(SELECT ctid FROM held))
RETURNING job_id

-- name: extend_leases
-- Makes leases longer and changes nothing else.
WITH held AS MATERIALIZED (
    SELECT i.ctid FROM jobs AS j JOIN items AS i ON i.job_id = j.id
    WHERE j.state != 'DONE' AND i.status = 'PROCESSING' AND i.worker = %(worker)s
    AND (i.id, i.epoch) IN (SELECT * FROM unnest(%(ids)s::bigint[], %(epochs)s::bigint[]))
    ORDER BY i.id
    FOR UPDATE OF i
)
UPDATE items SET deadline_at = greatest(deadline_at, utc_us() + %(lease_us)s::bigint)
WHERE ctid = ANY (ARRAY(SELECT ctid FROM held))
RETURNING id

-- name: leases_of
-- Leases are found through the jobs that can have some.
SELECT i.id, i.job_id, i.key, i.input, i.normalized, i.epoch, i.attempts, i.failures, i.crashes,
    i.strategy, i.suspect, coalesce(utc_us() - i.throttled_since, 0), i.gate
FROM jobs AS j JOIN items AS i ON i.job_id = j.id
WHERE j.state != 'DONE' AND i.status = 'PROCESSING' AND i.worker = %(worker)s
ORDER BY i.id

-- name: overdue
SELECT i.id, i.epoch, i.worker, ((i.deadline_at - i.leased_at) / 1000000.0)::double precision
FROM jobs AS j JOIN items AS i ON i.job_id = j.id
WHERE j.state != 'DONE' AND i.status = 'PROCESSING' AND i.deadline_at < (SELECT utc_us())
ORDER BY i.id LIMIT %(limit)s

-- name: return_leases
WITH held AS MATERIALIZED (
    SELECT i.ctid FROM jobs AS j JOIN items AS i ON i.job_id = j.id
    WHERE j.state != 'DONE' AND i.status = 'PROCESSING' AND i.worker = %(worker)s
    ORDER BY i.id
    FOR UPDATE OF i
)
UPDATE items SET
    status = 'PENDING', worker = NULL, leased_at = NULL, deadline_at = NULL, updated_at = utc_us()
WHERE ctid = ANY (ARRAY(SELECT ctid FROM held))
RETURNING job_id

-- name: select_requeue
SELECT id FROM items
WHERE job_id = %(job_id)s AND id > %(after_id)s AND status = ANY (%(statuses)s::text[])
AND (%(ids)s::bigint[] IS NULL OR id = ANY (%(ids)s::bigint[]))
AND id <> ALL (%(but_ids)s::bigint[])
AND (%(last_id)s::bigint IS NULL OR id <= %(last_id)s)
AND (%(error_class)s::text IS NULL OR error_class = %(error_class)s)
AND (%(but_class)s::text IS NULL OR error_class IS DISTINCT FROM %(but_class)s)
AND (%(signature)s::text IS NULL OR signature = %(signature)s)
AND (%(variant)s::text IS NULL OR variant = %(variant)s)
AND (%(below_attempts)s::integer IS NULL OR attempts < %(below_attempts)s)
AND (%(changed_from)s::bigint IS NULL OR updated_at >= %(changed_from)s)
AND (%(changed_to)s::bigint IS NULL OR updated_at < %(changed_to)s)
AND (
    %(text)s::text IS NULL
    OR key ILIKE %(text)s OR summary ILIKE %(text)s
    OR key ILIKE %(lower)s OR summary ILIKE %(lower)s
    OR key ILIKE %(upper)s OR summary ILIKE %(upper)s
    OR key ILIKE %(title)s OR summary ILIKE %(title)s
)
ORDER BY id LIMIT %(limit)s

-- name: window_in_order
-- The item this many rows further on, if there is one.
SELECT id FROM items
WHERE job_id = %(job_id)s AND id > %(after_id)s ORDER BY id LIMIT 1 OFFSET %(rows)s - 1

-- name: lock_items
-- Items whose status has not changed since they were found, locked.
SELECT id, status FROM items
WHERE job_id = %(job_id)s AND id = ANY (%(ids)s::bigint[]) AND status = ANY (%(statuses)s::text[])
ORDER BY id
FOR UPDATE

-- name: requeue_items
-- The history stays.
UPDATE items SET
    status = 'PENDING', due_at = 0, failures = 0, crashes = 0, strategy = 0, suspect = false,
    throttled_since = NULL, result = NULL, error_class = NULL, last_error = NULL, signature = NULL,
    variant = NULL,
    attempts = CASE WHEN %(reset_attempts)s THEN 0 ELSE attempts END,
    updated_at = utc_us()
WHERE job_id = %(job_id)s AND id = ANY (%(ids)s::bigint[])

-- name: lock_item
-- The item, locked: of two decisions, the second sees the first.
SELECT i.* FROM jobs AS j CROSS JOIN LATERAL (
    SELECT * FROM items WHERE job_id = j.id AND id = %(item_id)s FOR UPDATE
) AS i

-- name: decide_item
UPDATE items SET
    status = %(status)s, result = %(result)s, last_error = %(reason)s, updated_at = utc_us()
WHERE job_id = %(job_id)s AND id = %(item_id)s AND status = 'REVIEW'

-- name: insert_decision
-- One decision for each review.
INSERT INTO decisions (item_id, epoch, move, candidate, decided_by, decided_at, reason)
VALUES (%(item_id)s, %(epoch)s, %(move)s, %(candidate)s, %(by)s, utc_us(), %(reason)s)

-- name: same_decision
SELECT 1 FROM decisions
WHERE item_id = %(item_id)s AND epoch = %(epoch)s AND move = %(move)s
AND candidate IS NOT DISTINCT FROM %(candidate)s::text AND decided_by = %(by)s

-- name: delete_decisions
DELETE FROM decisions WHERE item_id = ANY (%(ids)s::bigint[])

-- name: select_open
-- Items that a claim has locked are waited for, and read as the claim left them.
SELECT id, status FROM items
WHERE job_id = %(job_id)s AND status = ANY (%(statuses)s::text[])
ORDER BY id LIMIT %(limit)s
FOR UPDATE

-- name: insert_cancelled_attempts
-- Attempts that were running when their job was cancelled.
INSERT INTO attempts (
    item_id, epoch, number, worker, strategy, outcome, leased_at, waited_us, ran_us, ended_at
)
SELECT id, epoch, attempts + 1, worker, strategy, 'cancelled', leased_at, 0, 0, utc_us()
FROM items
WHERE job_id = %(job_id)s AND id = ANY (%(ids)s::bigint[]) AND status = 'PROCESSING'

-- name: cancel_items
UPDATE items SET
    status = 'CANCELLED', worker = NULL, leased_at = NULL, deadline_at = NULL, updated_at = utc_us()
WHERE job_id = %(job_id)s AND id = ANY (%(ids)s::bigint[])

-- name: select_any
SELECT id, status FROM items WHERE job_id = %(job_id)s ORDER BY id LIMIT %(limit)s FOR UPDATE

-- name: delete_attempts
DELETE FROM attempts WHERE item_id = ANY (%(ids)s::bigint[])

-- name: delete_items
WITH found AS (
    SELECT key FROM items WHERE job_id = %(job_id)s AND id = ANY (%(ids)s::bigint[])
), keys AS (
    DELETE FROM item_keys WHERE job_id = %(job_id)s AND key IN (SELECT key FROM found)
)
DELETE FROM items WHERE job_id = %(job_id)s AND id = ANY (%(ids)s::bigint[])

-- name: delete_counts
DELETE FROM job_counts WHERE job_id = %(job_id)s

-- name: delete_columns
DELETE FROM job_columns WHERE job_id = %(job_id)s

-- name: delete_exports
DELETE FROM exports WHERE job_id = %(job_id)s

-- name: delete_job
-- The job's events stay.
DELETE FROM jobs WHERE id = %(job_id)s

-- name: demand
-- Demand by job, from the first entries of its indexes. They are read in order, because with EXISTS
-- the planner expects an early hit in the whole table.
WITH clock AS MATERIALIZED (SELECT utc_us() AS now)
SELECT j.id, j.owner, j.priority,
    coalesce(due.at <= clock.now, false),
    coalesce(suspect.at <= clock.now, false),
    coalesce(due.at, suspect.at, held.at) IS NOT NULL,
    least(due.at, suspect.at) - clock.now,
    j.ingest_complete AND NOT j.open
FROM jobs AS j CROSS JOIN clock
LEFT JOIN LATERAL (
    SELECT due_at AS at FROM items
    WHERE job_id = j.id AND status = 'PENDING' AND NOT suspect
    ORDER BY due_at LIMIT 1
) AS due ON true
LEFT JOIN LATERAL (
    SELECT due_at AS at FROM items
    WHERE job_id = j.id AND status = 'PENDING' AND suspect
    ORDER BY due_at LIMIT 1
) AS suspect ON true
LEFT JOIN LATERAL (
    SELECT updated_at AS at FROM items
    WHERE job_id = j.id AND status = 'PROCESSING'
    ORDER BY updated_at LIMIT 1
) AS held ON true
WHERE (j.state IN ('QUEUED', 'RUNNING') OR (j.state = 'INGESTING' AND j.eager))
AND (%(jobs)s::bigint[] IS NULL OR j.id = ANY (%(jobs)s::bigint[]))
AND (%(handlers)s::text[] IS NULL OR j.handler = ANY (%(handlers)s::text[]))
ORDER BY j.id

-- name: counts_of
SELECT status, count(*) FROM items
WHERE job_id = %(job_id)s AND id = ANY (%(ids)s::bigint[]) GROUP BY status

-- name: demand_for
WITH clock AS MATERIALIZED (SELECT utc_us() AS now)
SELECT j.id, j.owner, j.priority,
    coalesce(bool_or(i.status = 'PENDING' AND NOT i.suspect AND i.due_at <= clock.now), false),
    coalesce(bool_or(i.status = 'PENDING' AND i.suspect AND i.due_at <= clock.now), false),
    coalesce(bool_or(i.status IN ('PENDING', 'PROCESSING')), false),
    min(i.due_at) FILTER (WHERE i.status = 'PENDING') - min(clock.now),
    false
FROM jobs AS j CROSS JOIN clock
JOIN items AS i ON i.job_id = j.id AND i.id = ANY (%(ids)s::bigint[])
WHERE j.id = %(job_id)s
AND (j.state IN ('QUEUED', 'RUNNING') OR (j.state = 'INGESTING' AND j.eager))
GROUP BY j.id, j.owner, j.priority

-- name: register
-- A second registration, after a lost answer, changes nothing.
WITH clock AS MATERIALIZED (SELECT utc_us() AS now)
INSERT INTO workers (
    id, session_id, host, boot_id, pid, started_ticks, version, ttl_s, jobs, registered_at, beat_at
)
SELECT %(id)s, %(session_id)s, %(host)s, %(boot_id)s, %(pid)s, %(started_ticks)s, %(version)s,
    %(ttl_s)s, %(jobs)s, clock.now, clock.now
FROM clock
ON CONFLICT (id) DO NOTHING

-- name: beat
-- One heartbeat each, locked in order of id.
WITH alive AS MATERIALIZED (
    SELECT id FROM workers WHERE id = ANY (%(workers)s::text[]) AND stopped_at IS NULL
    ORDER BY id FOR NO KEY UPDATE
)
UPDATE workers SET beat = beat + 1, beat_at = utc_us(), ttl_s = %(ttl_s)s, claim_size = told.claim
FROM alive JOIN unnest(%(workers)s::text[], %(claims)s::integer[]) AS told (id, claim) USING (id)
WHERE workers.id = alive.id
RETURNING workers.id

-- name: ask_drain
UPDATE workers SET drain_at = coalesce(drain_at, utc_us())
WHERE id = %(worker)s AND stopped_at IS NULL
RETURNING id

-- name: draining
SELECT id FROM workers
WHERE id = ANY (%(workers)s::text[]) AND drain_at IS NOT NULL

-- name: stop_worker
-- Retires a worker; waits for its own claim that is under way.
UPDATE workers SET stopped_at = utc_us(), stop_reason = %(reason)s
WHERE id = %(worker)s AND stopped_at IS NULL

-- name: elect
-- Takes or keeps a duty. A term longer than the longest possible one was written before the clock
-- went back.
WITH clock AS MATERIALIZED (SELECT utc_us() AS now)
INSERT INTO duties (name, holder, until_at)
SELECT %(duty)s, %(holder)s, clock.now + %(ttl_us)s FROM clock
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until_at = excluded.until_at
WHERE duties.holder = excluded.holder
OR duties.until_at < excluded.until_at - %(ttl_us)s
OR duties.until_at > excluded.until_at + 10 * %(ttl_us)s
RETURNING holder

-- name: record_session
WITH clock AS MATERIALIZED (SELECT utc_us() AS now)
INSERT INTO sessions (
    id, job_id, command, worker_count, started_at, ended_at, settled, items_per_s
)
SELECT %(id)s, %(job_id)s, %(command)s, %(worker_count)s, clock.now,
    CASE WHEN %(ended)s THEN clock.now END, %(settled)s, %(items_per_s)s
FROM clock
ON CONFLICT (id) DO UPDATE SET
    worker_count = excluded.worker_count,
    ended_at = excluded.ended_at,
    settled = excluded.settled,
    items_per_s = excluded.items_per_s

-- name: insert_event
INSERT INTO events (at, job_id, item_id, kind, message, owner)
VALUES (
    utc_us(), %(job_id)s, %(item_id)s, %(kind)s, %(message)s,
    (SELECT jobs.owner FROM jobs WHERE jobs.id = %(job_id)s)
)

-- name: retain_events
-- At most `limit` events.
DELETE FROM events WHERE id IN (
    SELECT id FROM events WHERE at < (SELECT utc_us()) - %(older_than_us)s ORDER BY id LIMIT %(limit)s
)

-- name: retain_changes
-- At most `limit` changes of rows.
DELETE FROM row_changes WHERE id IN (
    SELECT id FROM row_changes
    WHERE at < (SELECT utc_us()) - %(older_than_us)s ORDER BY at LIMIT %(limit)s
)

-- name: retain_sessions
DELETE FROM sessions WHERE ended_at < (SELECT utc_us()) - %(older_than_us)s

-- name: retain_workers
DELETE FROM workers WHERE stopped_at < (SELECT utc_us()) - %(older_than_us)s

-- name: retain_made_once
-- Old keys, except the keys of files that arrived.
DELETE FROM made_once
WHERE created_at < (SELECT utc_us()) - %(older_than_us)s AND NOT starts_with(key, %(kept)s)

-- name: retain_tokens
DELETE FROM tokens AS t
WHERE least(revoked_at, expires_at, until_at) < (SELECT utc_us()) - %(older_than_us)s
AND NOT EXISTS (SELECT 1 FROM tokens AS made WHERE made.opened_by = t.id)

-- name: items_in_order
SELECT id, job_id, key, line, status, summary, attempts, crashes, error_class, last_error, due_at,
    worker, updated_at, CASE WHEN %(with_result)s THEN result END, owner, handler, gate
FROM items
WHERE job_id = %(job_id)s AND id > %(after_id)s AND id <= %(last_id)s
AND (%(statuses)s::text[] IS NULL OR status = ANY (%(statuses)s::text[]))
AND (%(error_class)s::text IS NULL OR error_class = %(error_class)s)
AND (
    %(text)s::text IS NULL
    OR key ILIKE %(text)s OR summary ILIKE %(text)s
    OR key ILIKE %(lower)s OR summary ILIKE %(lower)s
    OR key ILIKE %(upper)s OR summary ILIKE %(upper)s
    OR key ILIKE %(title)s OR summary ILIKE %(title)s
)
ORDER BY id LIMIT %(limit)s

-- name: items_by_signature
-- Failures of one kind, in input order.
SELECT id, job_id, key, line, status, summary, attempts, crashes, error_class, last_error, due_at,
    worker, updated_at, CASE WHEN %(with_result)s THEN result END, owner, handler, gate
FROM items
WHERE job_id = %(job_id)s AND signature = %(signature)s AND status = 'ERROR'
AND (%(variant)s::text IS NULL OR variant = %(variant)s)
AND id > %(after_id)s AND id <= %(last_id)s
AND (%(error_class)s::text IS NULL OR error_class = %(error_class)s)
AND (
    %(text)s::text IS NULL
    OR key ILIKE %(text)s OR summary ILIKE %(text)s
    OR key ILIKE %(lower)s OR summary ILIKE %(lower)s
    OR key ILIKE %(upper)s OR summary ILIKE %(upper)s
    OR key ILIKE %(title)s OR summary ILIKE %(title)s
)
ORDER BY id LIMIT %(limit)s

-- name: items_by_status
-- A page by time: one ordered read for each status, so that the database never sorts.
SELECT page.* FROM unnest(%(statuses)s::text[]) AS wanted (status) CROSS JOIN LATERAL (
    SELECT id, job_id, key, line, status, summary, attempts, crashes, error_class, last_error,
        due_at, worker, updated_at, CASE WHEN %(with_result)s THEN result END, owner, handler,
        gate
    FROM items AS i
    WHERE i.job_id = %(job_id)s AND i.status = wanted.status
    AND (i.updated_at, i.id) > (%(after_at)s, %(after_id)s)
    AND i.updated_at <= (SELECT utc_us()) - %(tail_us)s
    AND (i.updated_at, i.id) < (%(before_at)s, %(before_id)s)
    AND (%(error_class)s::text IS NULL OR i.error_class = %(error_class)s)
    AND (%(signature)s::text IS NULL OR i.signature = %(signature)s)
    AND (%(variant)s::text IS NULL OR i.variant = %(variant)s)
    AND (
        %(text)s::text IS NULL
        OR i.key ILIKE %(text)s OR i.summary ILIKE %(text)s
        OR i.key ILIKE %(lower)s OR i.summary ILIKE %(lower)s
        OR i.key ILIKE %(upper)s OR i.summary ILIKE %(upper)s
        OR i.key ILIKE %(title)s OR i.summary ILIKE %(title)s
    )
    ORDER BY i.updated_at, i.id LIMIT %(limit)s
) AS page
ORDER BY page.updated_at, page.id LIMIT %(limit)s

-- name: window_by_status
-- The end of a page by time: the first status that has given its share of rows.
SELECT page.* FROM unnest(%(statuses)s::text[]) AS wanted (status) CROSS JOIN LATERAL (
    SELECT i.updated_at, i.id FROM items AS i
    WHERE i.job_id = %(job_id)s AND i.status = wanted.status
    AND (i.updated_at, i.id) > (%(after_at)s, %(after_id)s)
    AND i.updated_at <= (SELECT utc_us()) - %(tail_us)s
    AND (i.updated_at, i.id) < (%(before_at)s, %(before_id)s)
    ORDER BY i.updated_at, i.id LIMIT 1
    OFFSET (SELECT greatest(%(rows)s / cardinality(%(statuses)s::text[]), %(limit)s) - 1)
) AS page
ORDER BY page.updated_at, page.id LIMIT 1

-- name: items_across_jobs
-- The same over all jobs: one ordered read for each status at rest and owner, and for each open
-- status and job that can have open items.
SELECT page.* FROM (
    SELECT resting.* FROM unnest(%(resting)s::text[]) AS wanted (status)
    CROSS JOIN (
        SELECT DISTINCT owner FROM jobs WHERE %(owner)s::text IS NULL OR owner = %(owner)s
    ) AS owners
    CROSS JOIN LATERAL (
        SELECT id, job_id, key, line, status, summary, attempts, crashes, error_class, last_error,
            due_at, worker, updated_at, CASE WHEN %(with_result)s THEN result END, owner, handler,
            gate
        FROM items AS i
        WHERE i.status = wanted.status AND i.owner = owners.owner
        AND i.status IN ('REVIEW', 'ERROR', 'NOT_FOUND')
        AND (i.updated_at, i.id) > (%(after_at)s, %(after_id)s)
        AND i.updated_at <= (SELECT utc_us()) - %(tail_us)s
        AND (i.updated_at, i.id) < (%(before_at)s, %(before_id)s)
    AND (i.updated_at, i.id) < (%(before_at)s, %(before_id)s)
        AND (%(handler)s::text IS NULL OR i.handler = %(handler)s)
        AND (%(error_class)s::text IS NULL OR i.error_class = %(error_class)s)
        AND (%(signature)s::text IS NULL OR i.signature = %(signature)s)
        AND (%(variant)s::text IS NULL OR i.variant = %(variant)s)
        AND (
            %(text)s::text IS NULL
            OR i.key ILIKE %(text)s OR i.summary ILIKE %(text)s
            OR i.key ILIKE %(lower)s OR i.summary ILIKE %(lower)s
            OR i.key ILIKE %(upper)s OR i.summary ILIKE %(upper)s
            OR i.key ILIKE %(title)s OR i.summary ILIKE %(title)s
        )
        ORDER BY i.updated_at, i.id LIMIT %(limit)s
    ) AS resting
    UNION ALL
    SELECT opened.* FROM unnest(%(opened)s::text[]) AS wanted (status)
    CROSS JOIN (
        SELECT id FROM jobs
        WHERE state != 'DONE' AND (%(owner)s::text IS NULL OR owner = %(owner)s)
        AND (%(handler)s::text IS NULL OR handler = %(handler)s)
    ) AS unfinished
    CROSS JOIN LATERAL (
        SELECT id, job_id, key, line, status, summary, attempts, crashes, error_class, last_error,
            due_at, worker, updated_at, CASE WHEN %(with_result)s THEN result END, owner, handler,
            gate
        FROM items AS i
        WHERE i.job_id = unfinished.id AND i.status = wanted.status
        AND (i.updated_at, i.id) > (%(after_at)s, %(after_id)s)
        AND i.updated_at <= (SELECT utc_us()) - %(tail_us)s
        AND (i.updated_at, i.id) < (%(before_at)s, %(before_id)s)
    AND (i.updated_at, i.id) < (%(before_at)s, %(before_id)s)
        AND (%(error_class)s::text IS NULL OR i.error_class = %(error_class)s)
        AND (%(signature)s::text IS NULL OR i.signature = %(signature)s)
        AND (%(variant)s::text IS NULL OR i.variant = %(variant)s)
        AND (
            %(text)s::text IS NULL
            OR i.key ILIKE %(text)s OR i.summary ILIKE %(text)s
            OR i.key ILIKE %(lower)s OR i.summary ILIKE %(lower)s
            OR i.key ILIKE %(upper)s OR i.summary ILIKE %(upper)s
            OR i.key ILIKE %(title)s OR i.summary ILIKE %(title)s
        )
        ORDER BY i.updated_at, i.id LIMIT %(limit)s
    ) AS opened
) AS page
ORDER BY page.updated_at, page.id LIMIT %(limit)s

-- name: window_across_jobs
-- The same over all jobs.
WITH owners AS MATERIALIZED (
    SELECT DISTINCT owner FROM jobs WHERE %(owner)s::text IS NULL OR owner = %(owner)s
),
unfinished AS MATERIALIZED (
    SELECT id FROM jobs
    WHERE state != 'DONE' AND (%(owner)s::text IS NULL OR owner = %(owner)s)
    AND (%(handler)s::text IS NULL OR handler = %(handler)s)
),
share AS MATERIALIZED (
    SELECT greatest(
        %(rows)s / greatest(
            cardinality(%(resting)s::text[]) * (SELECT count(*) FROM owners)
            + cardinality(%(opened)s::text[]) * (SELECT count(*) FROM unfinished), 1
        ),
        %(limit)s
    ) - 1 AS others
)
SELECT page.* FROM (
    SELECT resting.* FROM unnest(%(resting)s::text[]) AS wanted (status)
    CROSS JOIN owners
    CROSS JOIN LATERAL (
        SELECT i.updated_at, i.id FROM items AS i
        WHERE i.status = wanted.status AND i.owner = owners.owner
        AND i.status IN ('REVIEW', 'ERROR', 'NOT_FOUND')
        AND (i.updated_at, i.id) > (%(after_at)s, %(after_id)s)
        AND i.updated_at <= (SELECT utc_us()) - %(tail_us)s
        AND (i.updated_at, i.id) < (%(before_at)s, %(before_id)s)
        ORDER BY i.updated_at, i.id LIMIT 1 OFFSET (SELECT others FROM share)
    ) AS resting
    UNION ALL
    SELECT opened.* FROM unnest(%(opened)s::text[]) AS wanted (status)
    CROSS JOIN unfinished
    CROSS JOIN LATERAL (
        SELECT i.updated_at, i.id FROM items AS i
        WHERE i.job_id = unfinished.id AND i.status = wanted.status
        AND (i.updated_at, i.id) > (%(after_at)s, %(after_id)s)
        AND i.updated_at <= (SELECT utc_us()) - %(tail_us)s
        AND (i.updated_at, i.id) < (%(before_at)s, %(before_id)s)
        ORDER BY i.updated_at, i.id LIMIT 1 OFFSET (SELECT others FROM share)
    ) AS opened
) AS page
ORDER BY page.updated_at, page.id LIMIT 1

-- name: item
-- The job of the item is found by trying each, which saves an index.
SELECT i.* FROM jobs AS j CROSS JOIN LATERAL (
    SELECT * FROM items WHERE job_id = j.id AND id = %(item_id)s
) AS i

-- name: items_by_key
-- Items of the newest jobs first.
SELECT i.id, i.job_id, i.key, i.line, i.status, i.summary, i.attempts, i.crashes, i.error_class,
    i.last_error, i.due_at, i.worker AS locked_by, i.updated_at, i.result, i.owner, i.handler, i.gate
FROM jobs AS j
JOIN item_keys AS k ON k.job_id = j.id AND k.key = %(key)s
JOIN items AS i ON i.job_id = k.job_id AND i.id = k.item_id
WHERE (%(job_id)s::bigint IS NULL OR j.id = %(job_id)s)
AND (%(owner)s::text IS NULL OR j.owner = %(owner)s)
ORDER BY j.id DESC LIMIT 100

-- name: last_decision
-- The last decision about an item.
SELECT move, candidate, decided_by, reason FROM decisions
WHERE item_id = %(item_id)s ORDER BY epoch DESC LIMIT 1

-- name: newest_change
SELECT greatest(
    coalesce((
        SELECT max(updated_at) FROM items WHERE job_id = %(job_id)s AND status = 'PENDING'
    ), 0),
    coalesce((
        SELECT max(updated_at) FROM items WHERE job_id = %(job_id)s AND status = 'ERROR'
    ), 0)
)

-- name: failing_rows
-- Only deferred rows have a due time, so fresh rows are not read.
-- The last attempt that failed: since then the row may have been claimed and handed back.
SELECT f.id, f.status, f.error_class, coalesce(f.last_error, ''), (
    SELECT trace FROM attempts WHERE item_id = f.id AND error_class IS NOT NULL
    ORDER BY epoch DESC LIMIT 1
)
FROM (
    (
        SELECT id, status, error_class, last_error, updated_at FROM items
        WHERE job_id = %(job_id)s AND status = 'PENDING' AND NOT suspect AND due_at > 0
        ORDER BY due_at, id LIMIT %(limit)s
    )
    UNION ALL
    (
        SELECT id, status, error_class, last_error, updated_at FROM items
        WHERE job_id = %(job_id)s AND status = 'ERROR' AND updated_at > %(since_at)s
        ORDER BY updated_at, id LIMIT %(limit)s
    )
) AS f
WHERE f.updated_at > %(since_at)s AND f.error_class IS NOT NULL
AND (f.status = 'ERROR' OR f.error_class IN ('transient', 'timeout'))

-- name: first_rows
SELECT id FROM items WHERE job_id = %(job_id)s ORDER BY id LIMIT %(limit)s

-- name: rows_at_places
SELECT id FROM (
    SELECT id, row_number() OVER (ORDER BY id) AS place FROM items WHERE job_id = %(job_id)s
) AS numbered WHERE place = ANY (%(places)s::bigint[])
ORDER BY id

-- name: attempts
SELECT number, epoch, worker, strategy, outcome, error_class, reason, leased_at, waited_us, ran_us,
    ended_at, calls, trace
FROM attempts WHERE item_id = %(item_id)s ORDER BY epoch

-- name: calls
-- The calls of the next items.
SELECT page.id, a.calls
FROM (
    SELECT id FROM items WHERE job_id = %(job_id)s AND id > %(after_id)s ORDER BY id LIMIT %(limit)s
) AS page
LEFT JOIN attempts AS a ON a.item_id = page.id AND a.calls IS NOT NULL
ORDER BY page.id, a.epoch

-- name: events
SELECT id, at, job_id, item_id, kind, message FROM events
WHERE id > %(after_id)s
ORDER BY id LIMIT %(limit)s

-- name: last_events
-- Newest first.
SELECT id, at, job_id, item_id, kind, message FROM events
WHERE id < %(before_id)s
ORDER BY id DESC LIMIT %(limit)s

-- name: events_of_job
SELECT id, at, job_id, item_id, kind, message FROM events
WHERE job_id = %(job_id)s AND id > %(after_id)s AND (%(owner)s::text IS NULL OR owner = %(owner)s)
ORDER BY id LIMIT %(limit)s

-- name: last_events_of_job
-- Newest first.
SELECT id, at, job_id, item_id, kind, message FROM events
WHERE job_id = %(job_id)s AND id < %(before_id)s AND (%(owner)s::text IS NULL OR owner = %(owner)s)
ORDER BY id DESC LIMIT %(limit)s

-- name: events_of_owner
-- The events of one owner's jobs, also of deleted jobs.
SELECT id, at, job_id, item_id, kind, message FROM events
WHERE owner = %(owner)s AND id > %(after_id)s
ORDER BY id LIMIT %(limit)s

-- name: last_events_of_owner
-- Newest first.
SELECT id, at, job_id, item_id, kind, message FROM events
WHERE owner = %(owner)s AND id < %(before_id)s
ORDER BY id DESC LIMIT %(limit)s

-- name: export_rows
SELECT id, key, status, input, result, error_class, last_error FROM items
WHERE job_id = %(job_id)s AND id > %(after_id)s ORDER BY id LIMIT %(limit)s

-- name: histories
SELECT a.item_id, a.number, a.epoch, a.worker, a.strategy, a.outcome, a.error_class, a.reason,
    a.leased_at, a.waited_us, a.ran_us, a.ended_at, a.calls
FROM items AS i JOIN attempts AS a ON a.item_id = i.id
WHERE i.job_id = %(job_id)s AND i.id > %(after_id)s AND i.id <= %(last_id)s
ORDER BY i.id, a.epoch

-- name: rows_by_key
SELECT i.id, i.key, i.status, i.input, i.result, i.error_class, i.last_error
FROM unnest(%(keys)s::text[]) AS given (key)
JOIN item_keys AS k ON k.job_id = %(job_id)s AND k.key = given.key
JOIN items AS i ON i.job_id = k.job_id AND i.id = k.item_id

-- name: result_columns
SELECT name FROM job_columns WHERE job_id = %(job_id)s ORDER BY ordinal, name

-- name: error_groups
-- A job's failures by kind. A signature begins with its class, so one row of a group has the class
-- of all. Variants are separate groups while they are few and all rows of the signature have one:
-- rows from before that migration have none.
WITH fine AS MATERIALIZED (
    SELECT signature, variant, count(*) AS n, min(id) AS id FROM items
    WHERE job_id = %(job_id)s AND status = 'ERROR'
    GROUP BY signature, variant
),
told AS (
    SELECT signature, n, id,
        CASE
            WHEN count(*) OVER of_signature <= %(variants)s
            AND count(variant) OVER of_signature = count(*) OVER of_signature THEN variant
        END AS variant
    FROM fine WINDOW of_signature AS (PARTITION BY signature)
),
kind AS (
    SELECT signature, variant, sum(n)::bigint AS n, min(id) AS id FROM told
    GROUP BY signature, variant ORDER BY sum(n) DESC, min(id) LIMIT %(limit)s
)
SELECT one.error_class, coalesce(kind.variant, kind.signature, one.error_class), kind.n, one.id,
    coalesce(one.last_error, '')
FROM kind JOIN items AS one ON one.job_id = %(job_id)s AND one.id = kind.id
ORDER BY kind.n DESC, one.id

-- name: workers
-- Workers, newest first, with their leases.
SELECT w.id, w.session_id, w.host, w.boot_id, w.pid, w.started_ticks, w.version, w.ttl_s, w.beat,
    w.registered_at, w.beat_at, w.stopped_at,
    coalesce(held.n, 0), w.drain_at IS NOT NULL, w.claim_size
FROM workers AS w LEFT JOIN (
    SELECT i.worker, count(*) AS n FROM jobs AS j JOIN items AS i ON i.job_id = j.id
    WHERE j.state != 'DONE' AND i.status = 'PROCESSING' GROUP BY i.worker
) AS held ON held.worker = w.id
WHERE NOT %(alive_only)s OR w.stopped_at IS NULL
ORDER BY w.registered_at DESC, w.id

-- name: half_cancelled
-- Cancelled jobs that still have open items.
SELECT j.id FROM jobs AS j
WHERE j.state = 'CANCELLED' AND (
    EXISTS (SELECT 1 FROM items WHERE job_id = j.id AND status = 'PENDING')
    OR EXISTS (SELECT 1 FROM items WHERE job_id = j.id AND status = 'PROCESSING')
)

-- name: totals
SELECT count(*) FROM jobs

-- name: server_info
SELECT current_setting('server_version'), pg_database_size(current_database())

-- name: all_counts
SELECT status, sum(n)::bigint FROM job_counts GROUP BY status

-- name: duties
SELECT name, holder, until_at FROM duties ORDER BY name

-- name: lock_counts
-- Waits for every open change and keeps new ones out, so that a recount is exact.
LOCK TABLE job_counts IN EXCLUSIVE MODE

-- name: wrong_counts
-- Counters that differ from a recount.
WITH counted AS (
    SELECT job_id, status, count(*) AS n FROM items GROUP BY job_id, status
), kept AS (
    SELECT job_id, status, sum(n)::bigint AS n FROM job_counts GROUP BY job_id, status
)
SELECT job_id, status, coalesce(kept.n, 0), coalesce(counted.n, 0)
FROM counted FULL JOIN kept USING (job_id, status)
WHERE coalesce(kept.n, 0) != coalesce(counted.n, 0)
ORDER BY job_id, status

-- name: integrity
-- PostgreSQL reports a damaged page by itself, when it reads one.
SELECT 'ok'

-- name: lost_leases
-- Items that are leased to a worker that is gone.
SELECT i.worker, count(*) FROM items AS i LEFT JOIN workers AS w ON w.id = i.worker
WHERE i.status = 'PROCESSING' AND (w.id IS NULL OR w.stopped_at IS NOT NULL)
GROUP BY i.worker ORDER BY i.worker

-- name: finished_with_open
SELECT j.id, j.state, count(*) FROM jobs AS j JOIN items AS i ON i.job_id = j.id
WHERE j.state = 'DONE' AND i.status IN ('PENDING', 'PROCESSING')
GROUP BY j.id ORDER BY j.id

-- name: orphans
-- Rows whose parent is gone.
SELECT
    (SELECT count(*) FROM items AS i WHERE NOT EXISTS (SELECT FROM jobs WHERE id = i.job_id)),
    (SELECT count(*) FROM attempts AS a WHERE NOT EXISTS (SELECT FROM items WHERE id = a.item_id)),
    (SELECT count(*) FROM decisions AS d WHERE NOT EXISTS (SELECT FROM items WHERE id = d.item_id)),
    (SELECT count(*) FROM exports AS e WHERE NOT EXISTS (SELECT FROM jobs WHERE id = e.job_id)),
    (SELECT count(*) FROM tokens AS t WHERE NOT EXISTS (SELECT FROM users WHERE name = user_name)),
    (
        SELECT count(*) FROM reusable AS r LEFT JOIN items AS i ON i.id = r.item_id
        WHERE i.status IS DISTINCT FROM 'DONE'
    ),
    (
        SELECT count(*) FROM mirror_rows AS h
        WHERE NOT EXISTS (SELECT FROM streams WHERE id = h.stream_id)
    ),
    (
        SELECT count(*) FROM mirror_rows AS h
        WHERE NOT EXISTS (SELECT FROM mirror_bodies AS b WHERE b.number = h.number)
    ),
    (
        SELECT count(*) FROM mirror_bodies AS b
        WHERE NOT EXISTS (SELECT FROM mirror_rows AS h WHERE h.number = b.number)
    ),
    (
        SELECT count(*) FROM row_changes AS c
        WHERE NOT EXISTS (SELECT FROM mirror_rows AS h WHERE h.number = c.number)
    ),
    (
        SELECT count(*) FROM checkpoints AS c
        WHERE NOT EXISTS (SELECT FROM streams WHERE id = c.stream_id)
    ),
    (
        SELECT count(*) FROM item_keys AS k FULL JOIN items AS i
        ON i.job_id = k.job_id AND i.id = k.item_id AND i.key = k.key
        WHERE i.id IS NULL OR k.item_id IS NULL
    )

-- name: short_histories
-- Items with more attempts than their history has.
SELECT i.id, i.attempts FROM items AS i
LEFT JOIN (SELECT item_id, count(*) AS n FROM attempts GROUP BY item_id) AS a ON a.item_id = i.id
WHERE i.attempts > coalesce(a.n, 0)
ORDER BY i.id LIMIT 20

-- name: swap_gates
-- Stores proposals that are not outdated, in order of key, which is the order of locks. Urgent
-- changes are notified with the commit.
INSERT INTO gates (key, version, state, ticket, updated_at, urgent_at, urgent_by)
SELECT p.key, p.version + 1, p.state, %(ticket)s, clock.now,
    CASE WHEN p.urgent THEN clock.now ELSE 0 END,
    CASE WHEN p.urgent THEN %(sender)s ELSE '' END
FROM unnest(
    %(keys)s::text[], %(versions)s::bigint[], %(states)s::text[], %(urgent)s::boolean[]
) AS p (key, version, state, urgent), (SELECT utc_us() AS now) AS clock
WHERE p.version = 0 OR EXISTS (SELECT FROM gates AS g WHERE g.key = p.key)
ORDER BY p.key COLLATE "C"
ON CONFLICT (key) DO UPDATE SET
    version = gates.version + 1,
    state = excluded.state,
    ticket = excluded.ticket,
    updated_at = excluded.updated_at,
    urgent_at = CASE WHEN excluded.urgent_at > 0 THEN excluded.urgent_at ELSE gates.urgent_at END,
    urgent_by = CASE WHEN excluded.urgent_at > 0 THEN excluded.urgent_by ELSE gates.urgent_by END
WHERE CASE WHEN gates.state IS NULL THEN 0 ELSE gates.version END = excluded.version - 1
RETURNING utc_us(), key, version, state, ticket,
    CASE WHEN urgent_at = updated_at AND %(notify)s
        THEN pg_notify('headgate_gates', %(sender)s) IS NULL END

-- name: gates
-- The time, and the states of the named gates.
SELECT clock.now, g.key, CASE WHEN g.state IS NULL THEN 0 ELSE g.version END,
    coalesce(g.state, ''), g.ticket
FROM (SELECT utc_us() AS now) AS clock LEFT JOIN gates AS g ON g.key = ANY(%(keys)s::text[])

-- name: gates_under
SELECT key, version, state FROM gates
WHERE key >= %(prefix)s AND starts_with(key, %(prefix)s) AND state IS NOT NULL
ORDER BY key

-- name: forget_gate
-- The same ticket again means that an earlier try was cut off after its commit.
UPDATE gates SET
    version = version + 1, state = NULL, ticket = %(ticket)s, updated_at = utc_us(),
    urgent_at = utc_us(), urgent_by = %(sender)s
WHERE key = %(key)s AND (state IS NOT NULL OR ticket = %(ticket)s)
RETURNING CASE WHEN %(notify)s THEN pg_notify('headgate_gates', %(sender)s) IS NULL END

-- name: urgent_since
-- The newest urgent change of another process, for processes that cannot listen.
SELECT max(urgent_at) FROM gates WHERE urgent_at > %(seen)s AND urgent_by != %(sender)s

-- name: add_user
-- Inserts nothing if the name is taken.
INSERT INTO users (name, role, password_hash, created_at)
VALUES (%(name)s, %(role)s, %(password_hash)s, utc_us())
ON CONFLICT (name) DO NOTHING
RETURNING *

-- name: change_user
UPDATE users SET
    role = coalesce(%(role)s::text, role),
    password_hash = coalesce(%(password_hash)s::text, password_hash),
    disabled_at = CASE %(disabled)s::boolean
        WHEN true THEN coalesce(disabled_at, utc_us()) WHEN false THEN NULL ELSE disabled_at
    END
WHERE name = %(name)s
RETURNING *

-- name: user
SELECT * FROM users WHERE name = %(name)s

-- name: lock_user
-- The user, locked: no change and no other token until the transaction ends.
SELECT * FROM users WHERE name = %(name)s FOR NO KEY UPDATE

-- name: users
SELECT * FROM users ORDER BY name COLLATE "C"

-- name: insert_token
-- A token ends no later than the tokens that it was made with.
WITH RECURSIVE clock AS MATERIALIZED (SELECT utc_us() AS now),
makers AS (
    SELECT o.* FROM tokens AS o WHERE o.id = %(opened_by)s
    UNION ALL
    SELECT o.* FROM tokens AS o JOIN makers AS m ON o.id = m.opened_by
)
INSERT INTO tokens (
    id, user_name, digest, kind, role, label, opened_by, created_at, expires_at, until_at
)
SELECT %(id)s, %(user)s, %(digest)s, %(kind)s, %(role)s, %(label)s, %(opened_by)s, clock.now,
    least(
        clock.now + %(lives_us)s::bigint,
        (SELECT min(expires_at) FROM makers WHERE kind != 'login')
    ),
    clock.now + %(renewed_us)s::bigint
FROM clock
RETURNING *

-- name: renew_token
-- Extends the token of a server that goes on running.
UPDATE tokens SET until_at = utc_us() + %(renewed_us)s WHERE id = %(id)s AND revoked_at IS NULL
RETURNING *

-- name: expire_token
-- Ends a session; tokens that were made in it stay valid.
UPDATE tokens SET expires_at = utc_us()
WHERE id = %(id)s AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > utc_us())
RETURNING *

-- name: held_tokens
-- Valid API tokens of a user.
SELECT count(*) FROM tokens AS t
WHERE user_name = %(user)s AND kind = 'api' AND revoked_at IS NULL
AND (expires_at IS NULL OR expires_at > utc_us()) AND (until_at IS NULL OR until_at > utc_us())
AND (
    opened_by IS NULL OR EXISTS (
        WITH RECURSIVE makers AS (
            SELECT o.* FROM tokens AS o WHERE o.id = t.opened_by
            UNION ALL
            SELECT o.* FROM tokens AS o JOIN makers AS m ON o.id = m.opened_by
        )
        SELECT count(*) FROM makers
        HAVING count(*) FILTER (WHERE opened_by IS NULL) = 1 AND count(*) FILTER (
            WHERE revoked_at IS NOT NULL OR until_at <= utc_us()
            OR (kind != 'login' AND expires_at <= utc_us())
        ) = 0
    )
)

-- name: bearer
-- A valid token, with the time. All tokens that it was made with must be valid; a session may be
-- over.
SELECT *, utc_us() AS now FROM tokens AS t
WHERE digest = %(digest)s AND kind = %(kind)s AND revoked_at IS NULL
AND (expires_at IS NULL OR expires_at > utc_us()) AND (until_at IS NULL OR until_at > utc_us())
AND EXISTS (SELECT 1 FROM users WHERE name = user_name AND disabled_at IS NULL)
AND (
    opened_by IS NULL OR EXISTS (
        WITH RECURSIVE makers AS (
            SELECT o.* FROM tokens AS o WHERE o.id = t.opened_by
            UNION ALL
            SELECT o.* FROM tokens AS o JOIN makers AS m ON o.id = m.opened_by
        )
        SELECT count(*) FROM makers
        HAVING count(*) FILTER (WHERE opened_by IS NULL) = 1 AND count(*) FILTER (
            WHERE revoked_at IS NOT NULL OR until_at <= utc_us()
            OR (kind != 'login' AND expires_at <= utc_us())
        ) = 0
    )
)

-- name: note_use
UPDATE tokens SET last_used_at = utc_us() WHERE id = %(id)s RETURNING *

-- name: tokens
-- Valid tokens, newest first.
SELECT * FROM tokens AS t
WHERE (%(user)s::text IS NULL OR user_name = %(user)s) AND revoked_at IS NULL
AND (expires_at IS NULL OR expires_at > utc_us()) AND (until_at IS NULL OR until_at > utc_us())
AND (
    opened_by IS NULL OR EXISTS (
        WITH RECURSIVE makers AS (
            SELECT o.* FROM tokens AS o WHERE o.id = t.opened_by
            UNION ALL
            SELECT o.* FROM tokens AS o JOIN makers AS m ON o.id = m.opened_by
        )
        SELECT count(*) FROM makers
        HAVING count(*) FILTER (WHERE opened_by IS NULL) = 1 AND count(*) FILTER (
            WHERE revoked_at IS NOT NULL OR until_at <= utc_us()
            OR (kind != 'login' AND expires_at <= utc_us())
        ) = 0
    )
)
ORDER BY created_at DESC, id

-- name: revoke_token
UPDATE tokens SET revoked_at = utc_us()
WHERE id = %(id)s AND revoked_at IS NULL AND (%(user)s::text IS NULL OR user_name = %(user)s)
AND (expires_at IS NULL OR expires_at > utc_us())
RETURNING *

-- name: revoke_tokens
UPDATE tokens SET revoked_at = utc_us() WHERE user_name = %(user)s AND revoked_at IS NULL

-- name: revoke_tokens_of_password
-- All tokens of a user with a new password, except those of running servers and the one of this
-- request.
UPDATE tokens SET revoked_at = utc_us()
WHERE user_name = %(user)s AND revoked_at IS NULL AND until_at IS NULL
AND id IS DISTINCT FROM %(asked_with)s

-- name: revoke_tokens_of_role
-- Tokens that a user with a lower role loses: sessions, and tokens that they made for others.
UPDATE tokens SET revoked_at = utc_us()
WHERE revoked_at IS NULL AND (
    (user_name = %(user)s AND kind = 'login')
    OR (
        user_name != %(user)s
        AND opened_by IN (SELECT id FROM tokens WHERE user_name = %(user)s)
    )
)

-- name: login_tries
-- The counts of some keys, with the time.
SELECT k.key, coalesce(t.full_at, 0) AS full_at, coalesce(t.known_until, 0) AS known_until,
    utc_us() AS now
FROM unnest(%(keys)s::text[]) AS k (key) LEFT JOIN login_tries AS t ON t.key = k.key

-- name: lock_logins
-- Makes a row for each key, and locks them until the transaction ends.
INSERT INTO login_tries (key, full_at, over_at)
SELECT key, 0, utc_us() FROM unnest(%(keys)s::text[]) AS key ORDER BY key
ON CONFLICT (key) DO UPDATE SET full_at = login_tries.full_at

-- name: charge_login
-- One more try.
INSERT INTO login_tries (key, full_at, over_at) VALUES (%(key)s, %(full_at)s, %(full_at)s)
ON CONFLICT (key) DO UPDATE SET
    full_at = excluded.full_at, over_at = greatest(excluded.full_at, login_tries.known_until)

-- name: refund_login
-- One try less: the password was right.
UPDATE login_tries SET full_at = full_at - %(step_us)s WHERE key = %(key)s

-- name: know_login
-- An address from which an account has logged in.
UPDATE login_tries SET
    known_until = utc_us() + %(known_us)s, over_at = utc_us() + %(known_us)s
WHERE key = %(key)s

-- name: forget_logins
-- Removes counts that have no effect any more.
DELETE FROM login_tries WHERE key IN (
    SELECT key FROM login_tries WHERE over_at < utc_us() FOR UPDATE SKIP LOCKED
)

-- name: ask_export
WITH clock AS MATERIALIZED (SELECT utc_us() AS now)
INSERT INTO exports (job_id, format, asked_by, options, created_at, updated_at)
SELECT %(job_id)s, %(format)s, %(asked_by)s, %(options)s, clock.now, clock.now
FROM clock
RETURNING *

-- name: unfinished_exports
-- Exports that a user waits for.
SELECT count(*) FROM exports
WHERE state IN ('QUEUED', 'RUNNING') AND asked_by = %(asked_by)s

-- name: exports_to_make
-- For each user, the oldest exports that wait or whose holder stopped renewing.
SELECT id, asked_by FROM (
    SELECT id, asked_by, row_number() OVER (PARTITION BY asked_by ORDER BY id) AS place
    FROM exports
    WHERE state IN ('QUEUED', 'RUNNING') AND (state = 'QUEUED' OR until_at < (SELECT utc_us()))
) AS waiting
WHERE place <= %(per_user)s ORDER BY id

-- name: take_export
-- An export that waits or whose holder stopped renewing; one holder gets it.
UPDATE exports SET
    state = 'RUNNING', holder = %(holder)s, until_at = utc_us() + %(ttl_us)s, written = 0,
    updated_at = utc_us()
WHERE id = %(id)s AND (state = 'QUEUED' OR (state = 'RUNNING' AND until_at < utc_us()))
RETURNING *

-- name: advance_export
UPDATE exports SET written = %(rows)s, until_at = utc_us() + %(ttl_us)s, updated_at = utc_us()
WHERE id = %(id)s AND state = 'RUNNING' AND holder = %(holder)s
RETURNING id

-- name: finish_export
UPDATE exports SET
    state = 'DONE', written = %(rows)s, sha256 = %(sha256)s, file = %(file)s, size = %(size)s,
    report = %(report)s, holder = NULL, until_at = NULL, updated_at = utc_us(),
    finished_at = utc_us()
WHERE id = %(id)s AND state = 'RUNNING' AND holder = %(holder)s
RETURNING *

-- name: fail_export
UPDATE exports SET
    state = 'FAILED', error = %(reason)s, holder = NULL, until_at = NULL, updated_at = utc_us(),
    finished_at = utc_us()
WHERE id = %(id)s AND state = 'RUNNING' AND holder = %(holder)s
RETURNING *

-- name: export
SELECT * FROM exports WHERE id = %(id)s AND job_id = %(job_id)s

-- name: any_export
-- An export of any job.
SELECT * FROM exports WHERE id = %(id)s

-- name: exports
SELECT * FROM exports WHERE job_id = %(job_id)s ORDER BY id DESC

-- name: drop_exports
-- At most `limit` old exports.
DELETE FROM exports WHERE id IN (
    SELECT id FROM exports
    WHERE finished_at < (SELECT utc_us()) - %(older_than_us)s ORDER BY finished_at LIMIT %(limit)s
)
RETURNING *

-- name: mirror_of_owner
SELECT * FROM mirrors WHERE owner = %(owner)s AND name = %(name)s

-- name: mirrors
SELECT * FROM mirrors WHERE %(owner)s::text IS NULL OR owner = %(owner)s
ORDER BY name COLLATE "C", owner COLLATE "C"

-- name: lock_mirrors
-- One transaction at a time writes rows and closes checkpoints of a mirror, so the second of two
-- workers that settle the last two pages at once sees the first. Locked in order of id, before
-- anything else.
SELECT id FROM mirrors WHERE id = ANY (%(ids)s::bigint[]) ORDER BY id FOR NO KEY UPDATE

-- name: mirror_by_id
SELECT * FROM mirrors WHERE id = %(mirror_id)s AND (%(owner)s::text IS NULL OR owner = %(owner)s)

-- name: mirror_of_pass
SELECT * FROM mirrors
WHERE id = coalesce(
    (SELECT mirror_id FROM jobs WHERE id = %(pass_id)s),
    (SELECT mirror_id FROM checkpoints WHERE job_id = %(pass_id)s LIMIT 1)
)
AND (%(owner)s::text IS NULL OR owner = %(owner)s)

-- name: put_mirror
INSERT INTO mirrors (owner, name, source, digest, history, created_at)
VALUES (%(owner)s, %(name)s, %(source)s, %(digest)s, %(history)s, utc_us())
ON CONFLICT (owner, name) DO UPDATE SET
    source = excluded.source, digest = excluded.digest, history = excluded.history
RETURNING *

-- name: put_streams
INSERT INTO streams (mirror_id, name)
SELECT %(mirror_id)s, given.name
FROM unnest(%(names)s::text[]) WITH ORDINALITY AS given (name, place) ORDER BY given.place
ON CONFLICT (mirror_id, name) DO NOTHING

-- name: streams
SELECT id, mirror_id, name, watermark, full_pass, live FROM streams
WHERE mirror_id = %(mirror_id)s ORDER BY id

-- name: unfinished_pass
SELECT * FROM jobs
WHERE mirror_id = %(mirror_id)s AND state IN ('INGESTING', 'QUEUED', 'RUNNING', 'PAUSED')
ORDER BY id DESC LIMIT 1

-- name: start_pass
-- The first items of a pass are all there.
UPDATE jobs SET
    mirror_id = %(mirror_id)s, state = 'QUEUED', ingest_complete = true, updated_at = utc_us()
WHERE id = %(job_id)s
RETURNING *

-- name: insert_checkpoints
INSERT INTO checkpoints (
    job_id, name, mirror_id, stream_id, after_checkpoint, mode, since, closing, started_at
)
SELECT %(job_id)s, given.name, s.mirror_id, s.id, given.after_checkpoint, given.mode, given.since,
    given.closing, utc_us()
FROM unnest(
    %(names)s::text[], %(streams)s::text[], %(parents)s::text[], %(modes)s::text[],
    %(since)s::text[], %(closings)s::text[]
) AS given (name, stream, after_checkpoint, mode, since, closing)
JOIN streams AS s ON s.mirror_id = %(mirror_id)s AND s.name = given.stream

-- name: passes
-- Newest first, also passes whose job was deleted.
SELECT id FROM (
    SELECT id FROM jobs WHERE mirror_id = %(mirror_id)s
    UNION
    SELECT job_id FROM checkpoints WHERE mirror_id = %(mirror_id)s
) AS passes
WHERE %(before)s::bigint IS NULL OR id < %(before)s ORDER BY id DESC LIMIT %(limit)s

-- name: checkpoints
SELECT c.job_id, c.name, c.stream_id, s.name AS stream, c.after_checkpoint, c.mode, c.since,
    c.pages, c.added, c.changed, c.unchanged, c.repeated, c.total, c.started_at, c.completed_at,
    c.proof, c.evidence
FROM checkpoints AS c JOIN streams AS s ON s.id = c.stream_id
WHERE c.job_id = %(job_id)s ORDER BY c.stream_id, c.name COLLATE "C"

-- name: page_results
SELECT id, key, result FROM items
WHERE job_id = %(job_id)s AND id > %(after)s AND checkpoint = %(checkpoint)s AND status = 'DONE'
ORDER BY id LIMIT %(limit)s

-- name: mirror_rows
-- The heads of a page are read first, then each body by its number: a join would be planned as a
-- merge, which reads all bodies before the page.
WITH stream AS MATERIALIZED (SELECT id, full_pass FROM streams WHERE id = %(stream_id)s),
page AS MATERIALIZED (
    SELECT * FROM mirror_rows AS h
    WHERE h.stream_id = %(stream_id)s AND h.number > %(after)s
    AND (%(deleted)s OR (NOT h.deleted AND h.seen_pass >= (SELECT full_pass FROM stream)))
    ORDER BY h.number LIMIT %(limit)s
)
SELECT h.number, h.id, h.hash, h.updated, h.parent, b.body, h.first_pass, h.seen_pass, h.first_at,
    h.changed_at,
    CASE
        WHEN h.deleted THEN h.changed_at
        WHEN h.seen_pass < s.full_pass THEN (
            SELECT c.completed_at FROM checkpoints AS c
            WHERE c.stream_id = s.id AND c.job_id > h.seen_pass AND c.deletes
            ORDER BY c.job_id LIMIT 1
        )
    END AS deleted_at
FROM stream AS s CROSS JOIN page AS h CROSS JOIN LATERAL (
    SELECT body FROM mirror_bodies WHERE number = h.number OFFSET 0
) AS b
ORDER BY h.number

-- name: mirror_row
SELECT h.number, h.id, h.hash, h.updated, h.parent, b.body, h.first_pass, h.seen_pass, h.first_at,
    h.changed_at,
    CASE
        WHEN h.deleted THEN h.changed_at
        WHEN h.seen_pass < s.full_pass THEN (
            SELECT c.completed_at FROM checkpoints AS c
            WHERE c.stream_id = s.id AND c.job_id > h.seen_pass AND c.deletes
            ORDER BY c.job_id LIMIT 1
        )
    END AS deleted_at
FROM streams AS s JOIN mirror_rows AS h ON h.stream_id = s.id
JOIN mirror_bodies AS b ON b.number = h.number
WHERE s.id = %(stream_id)s AND h.stream_id = %(stream_id)s AND h.id = %(row_id)s

-- name: row_changes
SELECT c.id, c.number, h.id, c.pass_id, c.kind, c.before, c.at
FROM row_changes AS c JOIN mirror_rows AS h ON h.number = c.number
WHERE c.stream_id = %(stream_id)s AND c.id > %(after)s
ORDER BY c.id LIMIT %(limit)s

-- name: changes_of_row
SELECT c.id, c.number, h.id, c.pass_id, c.kind, c.before, c.at
FROM row_changes AS c JOIN mirror_rows AS h ON h.number = c.number
WHERE c.number = %(number)s ORDER BY c.id

-- name: diff_rows
SELECT number, id, body, first_pass, deleted, absent_pass FROM (
    SELECT h.number, h.id, b.body, h.first_pass, h.deleted,
        CASE WHEN h.seen_pass < s.full_pass THEN (
            SELECT c.job_id FROM checkpoints AS c
            WHERE c.stream_id = s.id AND c.job_id > h.seen_pass AND c.deletes
            ORDER BY c.job_id LIMIT 1
        ) END AS absent_pass
    FROM streams AS s JOIN mirror_rows AS h ON h.stream_id = s.id
    JOIN mirror_bodies AS b ON b.number = h.number
    WHERE s.id = %(stream_id)s AND h.stream_id = %(stream_id)s AND h.number > %(after)s
    AND h.first_pass <= %(newer)s
) AS diff
WHERE first_pass > %(older)s OR (absent_pass > %(older)s AND absent_pass <= %(newer)s) OR EXISTS (
    SELECT 1 FROM row_changes AS c
    WHERE c.number = diff.number AND c.pass_id > %(older)s AND c.pass_id <= %(newer)s
)
ORDER BY number LIMIT %(limit)s

-- name: diff_log
SELECT c.number, c.pass_id, c.kind, c.before
FROM row_changes AS c
WHERE c.number = ANY (%(numbers)s::bigint[]) AND c.pass_id > %(older)s
ORDER BY c.number, c.id

-- name: stream_fields
SELECT stream_id, name, types, first_pass FROM stream_fields
WHERE stream_id = ANY (%(streams)s::bigint[]) ORDER BY stream_id, ordinal, name COLLATE "C"

-- name: forget_changes
DELETE FROM row_changes WHERE id IN (
    SELECT c.id FROM streams AS s JOIN row_changes AS c ON c.stream_id = s.id
    WHERE s.mirror_id = %(mirror_id)s LIMIT %(limit)s
)

-- name: rows_to_forget
SELECT h.number FROM streams AS s JOIN mirror_rows AS h ON h.stream_id = s.id
WHERE s.mirror_id = %(mirror_id)s LIMIT %(limit)s

-- name: forget_bodies
DELETE FROM mirror_bodies WHERE number = ANY (%(numbers)s::bigint[])

-- name: forget_rows
DELETE FROM mirror_rows WHERE number = ANY (%(numbers)s::bigint[])

-- name: forget_fields
DELETE FROM stream_fields
WHERE stream_id IN (SELECT id FROM streams WHERE mirror_id = %(mirror_id)s)

-- name: forget_checkpoints
DELETE FROM checkpoints WHERE mirror_id = %(mirror_id)s

-- name: forget_passes
UPDATE jobs SET mirror_id = NULL WHERE mirror_id = %(mirror_id)s

-- name: forget_streams
DELETE FROM streams WHERE mirror_id = %(mirror_id)s

-- name: forget_mirror
DELETE FROM mirrors WHERE id = %(mirror_id)s

-- name: delete_checkpoints
DELETE FROM checkpoints WHERE job_id = %(job_id)s AND completed_at IS NULL

-- name: mirrors_of_jobs
SELECT DISTINCT mirror_id FROM jobs
WHERE id = ANY (%(jobs)s::bigint[]) AND mirror_id IS NOT NULL ORDER BY mirror_id

-- name: attached_items
-- The items whose lease is still held, locked in the order given.
SELECT i.id, i.checkpoint
FROM unnest(%(items)s::bigint[], %(jobs)s::bigint[], %(epochs)s::bigint[])
AS given (item_id, job_id, epoch)
CROSS JOIN LATERAL (
    SELECT id, checkpoint, status, epoch, worker FROM items
    WHERE job_id = given.job_id AND id = given.item_id
    FOR UPDATE
) AS i
WHERE CASE
    WHEN i.status = 'PROCESSING' AND i.epoch = given.epoch AND i.worker = %(worker)s
    THEN true ELSE false
END

-- name: streams_of_passes
SELECT j.id, s.name, s.id, s.full_pass FROM jobs AS j JOIN streams AS s ON s.mirror_id = j.mirror_id
WHERE j.id = ANY (%(jobs)s::bigint[])

-- name: checkpoints_of_passes
SELECT job_id, name, stream_id FROM checkpoints
WHERE job_id = ANY (%(jobs)s::bigint[]) ORDER BY job_id, name COLLATE "C"

-- name: known_heads
-- The lateral read forces one look-up by id for each row.
SELECT given.place - 1, h.number, h.hash, h.seen_pass, h.deleted
FROM unnest(%(streams)s::bigint[], %(ids)s::text[]) WITH ORDINALITY AS given (stream_id, id, place)
CROSS JOIN LATERAL (
    SELECT number, hash, seen_pass, deleted FROM mirror_rows AS r
    WHERE r.stream_id = given.stream_id AND r.id = given.id
    OFFSET 0
) AS h

-- name: new_row_numbers
SELECT nextval(pg_get_serial_sequence('mirror_rows', 'number'))
FROM generate_series(1, %(count)s::integer)

-- name: insert_heads
INSERT INTO mirror_rows (
    number, stream_id, id, hash, updated, parent, deleted, first_pass, seen_pass, first_at,
    changed_at
)
SELECT given.number, given.stream_id, given.id, given.hash, given.updated, given.parent,
    given.deleted, given.pass_id, given.pass_id, clock.now, clock.now
FROM unnest(
    %(numbers)s::bigint[], %(streams)s::bigint[], %(ids)s::text[], %(hashes)s::text[],
    %(updated)s::text[], %(parents)s::text[], %(deleted)s::boolean[], %(passes)s::bigint[]
) AS given (number, stream_id, id, hash, updated, parent, deleted, pass_id),
(SELECT utc_us() AS now) AS clock

-- name: insert_bodies
INSERT INTO mirror_bodies (number, body)
SELECT * FROM unnest(%(numbers)s::bigint[], %(bodies)s::text[])

-- name: see_rows
UPDATE mirror_rows SET seen_pass = %(pass_id)s
WHERE number = ANY (%(numbers)s::bigint[]) AND seen_pass < %(pass_id)s

-- name: log_absences
-- A row that is seen again was deleted by the first full pass that did not see it. Without this
-- entry, nothing would tell since when.
INSERT INTO row_changes (stream_id, number, pass_id, kind, before, at)
SELECT h.stream_id, h.number, c.job_id, 'deleted', CASE WHEN m.history THEN b.body END,
    c.completed_at
FROM mirror_rows AS h JOIN mirror_bodies AS b ON b.number = h.number
JOIN streams AS s ON s.id = h.stream_id JOIN mirrors AS m ON m.id = s.mirror_id
JOIN LATERAL (
    SELECT p.job_id, p.completed_at FROM checkpoints AS p
    WHERE p.stream_id = s.id AND p.job_id > h.seen_pass AND p.deletes
    ORDER BY p.job_id LIMIT 1
) AS c ON TRUE
WHERE h.number = ANY (%(numbers)s::bigint[]) AND NOT h.deleted

-- name: insert_changes
INSERT INTO row_changes (stream_id, number, pass_id, kind, before, at)
SELECT given.stream_id, given.number, given.pass_id, given.kind,
    (
        SELECT b.body FROM streams AS s JOIN mirrors AS m ON m.id = s.mirror_id
        JOIN mirror_bodies AS b ON b.number = given.number
        WHERE s.id = given.stream_id AND m.history
    ),
    clock.now
FROM unnest(%(numbers)s::bigint[], %(streams)s::bigint[], %(passes)s::bigint[], %(kinds)s::text[])
WITH ORDINALITY AS given (number, stream_id, pass_id, kind, place),
(SELECT utc_us() AS now) AS clock
ORDER BY given.place

-- name: change_heads
UPDATE mirror_rows AS h SET
    hash = given.hash, updated = given.updated, parent = given.parent, deleted = given.deleted,
    seen_pass = given.pass_id, changed_at = clock.now
FROM unnest(
    %(numbers)s::bigint[], %(hashes)s::text[], %(updated)s::text[], %(parents)s::text[],
    %(deleted)s::boolean[], %(passes)s::bigint[]
) AS given (number, hash, updated, parent, deleted, pass_id),
(SELECT utc_us() AS now) AS clock
WHERE h.number = given.number

-- name: flag_heads
UPDATE mirror_rows AS h SET
    deleted = given.deleted, seen_pass = given.pass_id, changed_at = utc_us()
FROM unnest(%(numbers)s::bigint[], %(deleted)s::boolean[], %(passes)s::bigint[])
AS given (number, deleted, pass_id)
WHERE h.number = given.number

-- name: change_bodies
UPDATE mirror_bodies AS b SET body = given.body
FROM unnest(%(numbers)s::bigint[], %(bodies)s::text[]) AS given (number, body)
WHERE b.number = given.number

-- name: put_fields
INSERT INTO stream_fields AS f (stream_id, name, types, ordinal, first_pass)
SELECT * FROM unnest(
    %(streams)s::bigint[], %(names)s::text[], %(types)s::integer[], %(ordinals)s::integer[],
    %(passes)s::bigint[]
)
ON CONFLICT (stream_id, name) DO UPDATE SET types = f.types | excluded.types

-- name: spawn_items
-- Adds the items whose key the job does not have yet, in the order given.
WITH given AS MATERIALIZED (
    SELECT * FROM unnest(
        %(jobs)s::bigint[], %(keys)s::text[], %(inputs)s::text[], %(checkpoints)s::text[],
        %(gates)s::text[], %(lines)s::bigint[], %(summaries)s::text[]
    ) WITH ORDINALITY AS given (job_id, key, input, checkpoint, gate, line, summary, place)
),
new AS (
    INSERT INTO item_keys (job_id, key, item_id)
    SELECT job_id, key, nextval(pg_get_serial_sequence('items', 'id'))
    FROM (SELECT job_id, key FROM given ORDER BY place) AS ordered
    ON CONFLICT (job_id, key) DO NOTHING
    RETURNING job_id, key, item_id
)
INSERT INTO items (
    id, job_id, key, input, checkpoint, gate, line, summary, status, updated_at, owner, handler,
    ingest_run
)
SELECT new.item_id, j.id, given.key, given.input, given.checkpoint, given.gate, given.line,
    given.summary, 'PENDING', utc_us(), j.owner, j.handler, j.ingest_run
FROM new JOIN given ON given.job_id = new.job_id AND given.key = new.key
JOIN jobs AS j ON j.id = new.job_id
RETURNING job_id

-- name: count_pages
UPDATE checkpoints AS c SET
    pages = c.pages + given.pages, added = c.added + given.added,
    changed = c.changed + given.changed, unchanged = c.unchanged + given.unchanged,
    repeated = c.repeated + given.repeated, total = coalesce(given.total, c.total)
FROM unnest(
    %(jobs)s::bigint[], %(names)s::text[], %(pages)s::bigint[], %(added)s::bigint[],
    %(changed)s::bigint[], %(unchanged)s::bigint[], %(repeated)s::bigint[], %(totals)s::bigint[]
) AS given (job_id, name, pages, added, changed, unchanged, repeated, total)
WHERE c.job_id = given.job_id AND c.name = given.name

-- name: close_checkpoint
-- Only if every item of the checkpoint has ended well, and the parent is complete.
UPDATE checkpoints AS c SET completed_at = utc_us(), proof = %(proof)s, evidence = %(evidence)s
WHERE c.job_id = %(job_id)s AND c.name = %(name)s AND c.completed_at IS NULL
AND NOT EXISTS (
    SELECT FROM items AS i
    WHERE i.job_id = %(job_id)s AND i.checkpoint = %(name)s AND i.checkpoint != ''
    AND i.status != 'DONE'
    AND i.status IN ('PENDING', 'PROCESSING', 'REVIEW', 'ERROR', 'CANCELLED')
)
AND (
    c.after_checkpoint = '' OR EXISTS (
        SELECT FROM checkpoints AS parent
        WHERE parent.job_id = c.job_id AND parent.name = c.after_checkpoint
        AND parent.completed_at IS NOT NULL
    )
)
RETURNING c.*

-- name: checkpoint
SELECT * FROM checkpoints WHERE job_id = %(job_id)s AND name = %(name)s

-- name: stream
SELECT * FROM streams WHERE id = %(stream_id)s

-- name: move_watermark
UPDATE streams SET watermark = %(watermark)s, watermark_pass = %(job_id)s
WHERE id = %(stream_id)s AND watermark_pass <= %(job_id)s

-- name: move_full_pass
UPDATE streams SET full_pass = %(job_id)s WHERE id = %(stream_id)s AND full_pass < %(job_id)s
RETURNING id

-- name: mark_deletes
UPDATE checkpoints SET deletes = true WHERE job_id = %(job_id)s AND name = %(name)s

-- name: count_live
UPDATE streams AS s SET live = (
    SELECT count(*) FROM mirror_rows AS h
    WHERE h.stream_id = s.id AND NOT h.deleted AND h.seen_pass >= s.full_pass
)
WHERE s.id = %(stream_id)s

-- name: checkpoints_after
SELECT name FROM checkpoints
WHERE job_id = %(job_id)s AND after_checkpoint = %(name)s ORDER BY name COLLATE "C"

-- name: ready_to_close
-- Checkpoints that have no open or failed item, and whose last closing item has ended well.
SELECT c.job_id, c.name, c.closings + 1, c.closing
FROM unnest(%(jobs)s::bigint[], %(names)s::text[]) AS touched (job_id, name)
JOIN checkpoints AS c ON c.job_id = touched.job_id AND c.name = touched.name
WHERE c.completed_at IS NULL
AND NOT EXISTS (
    SELECT FROM items AS i
    WHERE i.job_id = c.job_id AND i.checkpoint = c.name AND i.checkpoint != ''
    AND i.status != 'DONE'
    AND i.status IN ('PENDING', 'PROCESSING', 'REVIEW', 'ERROR', 'CANCELLED')
)
AND (
    c.after_checkpoint = '' OR EXISTS (
        SELECT FROM checkpoints AS parent
        WHERE parent.job_id = c.job_id AND parent.name = c.after_checkpoint
        AND parent.completed_at IS NOT NULL
    )
)
AND NOT EXISTS (
    SELECT FROM item_keys AS k JOIN items AS last ON last.job_id = k.job_id AND last.id = k.item_id
    WHERE k.job_id = c.job_id AND k.key = c.name || '/closing/' || c.closings
    AND last.status NOT IN ('DONE', 'NOT_FOUND', 'SKIPPED')
)
ORDER BY c.job_id, c.name COLLATE "C"

-- name: count_closings
UPDATE checkpoints AS c SET closings = c.closings + 1
FROM unnest(%(jobs)s::bigint[], %(names)s::text[]) AS given (job_id, name)
WHERE c.job_id = given.job_id AND c.name = given.name

-- name: never_closed
SELECT name FROM checkpoints
WHERE job_id = %(job_id)s AND completed_at IS NULL AND closings = 0 ORDER BY name COLLATE "C"
