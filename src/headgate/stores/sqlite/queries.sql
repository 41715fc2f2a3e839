-- Named statements of the SQLite store. `:now` is the stamp of the transaction.

-- name: job
SELECT * FROM jobs WHERE id = :job_id

-- name: jobs
SELECT
    id, owner, name, handler, source, key_columns, priority, state, open, eager, fingerprint,
    columns, ingest_run, ingest_position, ingest_complete, created_at, updated_at, started_at,
    finished_at, last_error, pause_reason, resume_at, file, client, ingest, mirror_id,
    CASE WHEN :configs THEN config ELSE '{}' END AS config,
    CASE WHEN :configs OR reading IS NULL THEN reading ELSE '{}' END AS reading,
    CASE WHEN :configs OR options IS NULL THEN options ELSE '{}' END AS options
FROM jobs
WHERE (:owner IS NULL OR owner = :owner) AND (:after_id = 0 OR id < :after_id)
AND (:states IS NULL OR state IN (SELECT value FROM json_each(:states)))
AND (:handler IS NULL OR handler = :handler)
AND (NOT :read_by_server OR reading IS NOT NULL)
AND (
    :text IS NULL
    OR name LIKE :text ESCAPE '\' OR file LIKE :text ESCAPE '\'
    OR name LIKE :lower ESCAPE '\' OR file LIKE :lower ESCAPE '\'
    OR name LIKE :upper ESCAPE '\' OR file LIKE :upper ESCAPE '\'
    OR name LIKE :title ESCAPE '\' OR file LIKE :title ESCAPE '\'
)
ORDER BY id DESC LIMIT :limit

-- name: find_jobs
SELECT * FROM jobs
WHERE owner = :owner AND handler = :handler AND source = :source
ORDER BY id DESC

-- name: similar_jobs
SELECT * FROM jobs
WHERE owner = :owner AND open = 0 AND reading IS NULL
AND (
    (:fingerprint != '' AND fingerprint = :fingerprint)
    OR substr(source, -length(:ending)) = :ending
)
ORDER BY id DESC LIMIT 100

-- name: insert_job
INSERT INTO jobs (
    owner, name, handler, source, key_columns, config, priority, state, open, eager, fingerprint,
    columns, reading, file, client, options, ingest_complete, created_at, updated_at
) VALUES (
    :owner, :name, :handler, :source, :key_columns, :config, :priority,
    CASE WHEN :open THEN 'QUEUED' ELSE 'INGESTING' END, :open, :eager, :fingerprint,
    :columns, :reading, :file, :client, :options, :open, :now, :now
) RETURNING *

-- name: made_once
SELECT digest, job_id FROM made_once WHERE owner = :owner AND key = :key

-- name: insert_made_once
INSERT INTO made_once (owner, key, digest, job_id, created_at)
VALUES (:owner, :key, :digest, :job_id, :now)

-- name: usage
SELECT
    (
        SELECT count(*) FROM jobs INDEXED BY jobs_under_way
        WHERE owner = :owner AND state IN ('INGESTING', 'QUEUED', 'RUNNING', 'PAUSED')
    ),
    (
        SELECT coalesce(sum(n), 0)
        FROM jobs INDEXED BY jobs_under_way CROSS JOIN job_counts ON job_id = jobs.id
        WHERE owner = :owner AND state IN ('INGESTING', 'QUEUED', 'RUNNING', 'PAUSED')
        AND status IN ('PENDING', 'PROCESSING')
    )

-- name: sources_to_read
SELECT id, owner, source FROM (
    SELECT id, owner, source, row_number() OVER (PARTITION BY owner ORDER BY id) AS place
    FROM jobs INDEXED BY jobs_by_state
    WHERE state = 'INGESTING' AND reading IS NOT NULL
)
WHERE place <= :per_user ORDER BY id

-- name: move_job
UPDATE jobs SET
    state = :target,
    updated_at = :now,
    started_at = CASE WHEN :target = 'RUNNING' THEN coalesce(started_at, :now) ELSE started_at END,
    finished_at = CASE WHEN :target IN ('DONE', 'FAILED', 'CANCELLED') THEN :now END,
    last_error = CASE WHEN :target = 'FAILED' THEN :reason ELSE last_error END,
    pause_reason = CASE WHEN :target = 'PAUSED' THEN :reason END,
    resume_at = CASE WHEN :target = 'PAUSED' THEN :now + :resume_us END,
    ingest_complete = CASE
        WHEN :target = 'INGESTING' THEN 0
        WHEN state = 'INGESTING' AND :target = 'QUEUED' THEN 1
        ELSE ingest_complete
    END
WHERE id = :job_id AND state = :source
RETURNING *

-- name: rested
SELECT id FROM jobs WHERE state = 'PAUSED' AND resume_at <= :now

-- name: reopen_ingest
UPDATE jobs SET
    state = CASE WHEN state = 'PAUSED' THEN 'PAUSED' ELSE 'INGESTING' END,
    fingerprint = :fingerprint,
    ingest_run = ingest_run + 1,
    ingest_position = '',
    ingest_complete = 0,
    finished_at = NULL,
    updated_at = :now
WHERE id = :job_id AND state != 'CANCELLED'
RETURNING *

-- name: complete_ingest
UPDATE jobs SET
    state = CASE WHEN state = 'INGESTING' THEN 'QUEUED' ELSE state END,
    columns = :columns,
    ingest_complete = 1,
    updated_at = :now
WHERE id = :job_id
RETURNING *

-- name: rebind_job
UPDATE jobs SET handler = :handler, source = :source, config = :config, options = :options,
    updated_at = :now
WHERE id = :job_id
RETURNING *

-- name: rebind_items
UPDATE items SET handler = (SELECT jobs.handler FROM jobs WHERE jobs.id = :job_id)
WHERE id IN (
    SELECT id FROM items WHERE job_id = :job_id AND id > :after_id ORDER BY id LIMIT :limit
)
RETURNING id

-- name: unseen_bad_rows
SELECT items.id, status FROM items INDEXED BY items_by_status
JOIN jobs ON jobs.id = items.job_id
WHERE job_id = :job_id AND status IN ('ERROR', 'SKIPPED') AND items.error_class = 'bad_row'
AND items.ingest_run < jobs.ingest_run
LIMIT :limit

-- name: close_queue
UPDATE jobs SET open = 0, updated_at = :now WHERE id = :job_id RETURNING *

-- name: set_priority
UPDATE jobs SET priority = :priority, updated_at = :now WHERE id = :job_id RETURNING *

-- name: finish_job
UPDATE jobs SET state = 'DONE', finished_at = :now, updated_at = :now
WHERE id = :job_id AND state IN ('QUEUED', 'RUNNING') AND ingest_complete = 1 AND open = 0
AND NOT EXISTS (
    SELECT 1 FROM items
    WHERE job_id = :job_id AND status IN ('PENDING', 'PROCESSING')
)
RETURNING *

-- name: move_position
UPDATE jobs SET ingest_position = :position
WHERE id = :job_id AND ingest_position = :expected
RETURNING id

-- name: tell_progress
UPDATE jobs SET ingest = :progress WHERE id = :job_id

-- name: insert_items
-- A problem without a signature is not a failure: the row is skipped.
INSERT INTO items (
    job_id, key, line, gate, summary, input, last_error, signature, variant, error_class, status,
    updated_at, owner, handler, ingest_run, checkpoint
)
SELECT
    :job_id, value ->> 0, value ->> 2, value ->> 3, value ->> 4, value ->> 1, value ->> 5,
    value ->> 6, value ->> 7,
    CASE WHEN value ->> 5 IS NULL THEN NULL ELSE 'bad_row' END,
    CASE
        WHEN value ->> 5 IS NULL THEN 'PENDING' WHEN value ->> 6 IS NULL THEN 'SKIPPED'
        ELSE 'ERROR'
    END,
    :now, :owner, :handler, :run, value ->> 8
FROM jsonb_each(:rows) WHERE TRUE
ON CONFLICT (job_id, key) DO NOTHING

-- name: max_item_id
SELECT coalesce(max(id), 0) FROM items

-- name: known_rows
SELECT value ->> 0, value ->> 2, i.line, i.input != value ->> 1,
    i.ingest_run = :run AND i.line != value ->> 2, i.id
FROM jsonb_each(:rows) AS row CROSS JOIN items AS i
WHERE i.job_id = :job_id AND i.key = value ->> 0 AND (i.id <= :newest OR i.line != value ->> 2)

-- name: see_again
UPDATE items SET ingest_run = :run, line = value ->> 1
FROM json_each(:seen)
WHERE items.id = value ->> 0 AND ingest_run < :run

-- name: count_new
SELECT status, count(*) FROM items WHERE id > :newest AND job_id = :job_id GROUP BY status

-- name: add_count
INSERT INTO job_counts (job_id, shard, status, n) VALUES (:job_id, 0, :status, :n)
ON CONFLICT (job_id, shard, status) DO UPDATE SET n = n + excluded.n

-- name: counts
SELECT status, sum(n) FROM job_counts WHERE job_id = :job_id GROUP BY status

-- name: situation
-- True if a row is due, when one was last finished, the workers that may run it, and whether other
-- jobs are running. A killed worker cannot say so: its heartbeat shows it.
SELECT :now,
    EXISTS (
        SELECT 1 FROM items INDEXED BY items_claimable
        WHERE job_id = :job_id AND status = 'PENDING' AND suspect = 0 AND due_at <= :now
    ) OR EXISTS (
        SELECT 1 FROM items INDEXED BY items_suspect
        WHERE job_id = :job_id AND status = 'PENDING' AND suspect = 1 AND due_at <= :now
    ),
    (
        SELECT max(last) FROM (
            SELECT (
                SELECT max(updated_at) FROM items INDEXED BY items_by_status
                WHERE job_id = :job_id AND status = value
            ) AS last
            FROM json_each('["DONE","NOT_FOUND","SKIPPED","REVIEW","ERROR"]')
        )
    ),
    (
        SELECT count(*) FROM workers INDEXED BY workers_alive
        WHERE stopped_at IS NULL AND :now - beat_at < (2 * ttl_s) * 1000000
        AND (jobs = '[]' OR :job_id IN (SELECT value FROM json_each(jobs)))
    ),
    EXISTS (
        SELECT 1 FROM jobs AS other CROSS JOIN items AS i INDEXED BY items_by_status
        WHERE other.state = 'RUNNING' AND other.id != :job_id
        AND i.job_id = other.id AND i.status = 'PROCESSING'
    )

-- name: deferrals
-- Rows that are due later, grouped by reason, each group with the text of its first row.
SELECT coalesce(error_class, ''), gate, count(*), min(due_at), coalesce(last_error, '')
FROM (
    SELECT error_class, gate, due_at, last_error FROM items INDEXED BY items_claimable
    WHERE job_id = :job_id AND status = 'PENDING' AND suspect = 0 AND due_at > :now
    ORDER BY due_at LIMIT :limit
)
GROUP BY 1, 2 ORDER BY 4

-- name: handler_time
-- Handler time of the rows that were done last.
SELECT avg(ran_us) FROM attempts
WHERE outcome = 'done' AND item_id IN (
    SELECT id FROM items INDEXED BY items_by_status
    WHERE job_id = :job_id AND status = 'DONE' ORDER BY updated_at DESC LIMIT :limit
)

-- name: worker_alive
SELECT 1 FROM workers WHERE id = :worker AND stopped_at IS NULL

-- name: select_fresh
-- Rows that were never deferred, in input order.
SELECT id, job_id, key, input, normalized, epoch + 1, attempts, failures, crashes, strategy, suspect,
    CASE WHEN throttled_since IS NULL THEN 0 ELSE :now - throttled_since END, gate
FROM items INDEXED BY items_claimable
WHERE job_id = :job_id AND status = 'PENDING' AND suspect = 0 AND due_at = 0 AND id >= :first
ORDER BY id LIMIT :limit

-- name: fresh_after
-- The position behind a share of the fresh rows; each end is one index read.
SELECT least + CAST((most - least) * :skipped AS INTEGER) FROM (
    SELECT
        (
            SELECT id FROM items INDEXED BY items_claimable
            WHERE job_id = :job_id AND status = 'PENDING' AND suspect = 0 AND due_at = 0
            ORDER BY id LIMIT 1
        ) AS least,
        (
            SELECT id FROM items INDEXED BY items_claimable
            WHERE job_id = :job_id AND status = 'PENDING' AND suspect = 0 AND due_at = 0
            ORDER BY id DESC LIMIT 1
        ) AS most
) WHERE least IS NOT NULL

-- name: select_retries
-- Items that were deferred and are due now.
SELECT id, job_id, key, input, normalized, epoch + 1, attempts, failures, crashes, strategy, suspect,
    CASE WHEN throttled_since IS NULL THEN 0 ELSE :now - throttled_since END, gate
FROM items INDEXED BY items_claimable
WHERE job_id = :job_id AND status = 'PENDING' AND suspect = 0 AND due_at > 0 AND due_at <= :now
ORDER BY due_at, id LIMIT :limit OFFSET :skip

-- name: select_ungated
-- Items without a gate among the first due ones: items of closed gates may come before them.
SELECT id, job_id, key, input, normalized, epoch + 1, attempts, failures, crashes, strategy, suspect,
    CASE WHEN throttled_since IS NULL THEN 0 ELSE :now - throttled_since END, gate
FROM (
    SELECT * FROM items INDEXED BY items_claimable
    WHERE job_id = :job_id AND status = 'PENDING' AND suspect = 0 AND due_at <= :now
    ORDER BY due_at, id LIMIT :look
)
WHERE gate = ''
ORDER BY due_at, id LIMIT :limit

-- name: next_gate
SELECT gate FROM items INDEXED BY items_by_gate
WHERE job_id = :job_id AND status = 'PENDING' AND suspect = 0 AND gate != '' AND gate > :after
ORDER BY gate LIMIT 1

-- name: select_fresh_at
SELECT id, job_id, key, input, normalized, epoch + 1, attempts, failures, crashes, strategy, suspect,
    CASE WHEN throttled_since IS NULL THEN 0 ELSE :now - throttled_since END, gate
FROM items INDEXED BY items_by_gate
WHERE job_id = :job_id AND status = 'PENDING' AND suspect = 0 AND gate != '' AND gate = :gate
AND due_at = 0
ORDER BY id LIMIT :limit

-- name: select_retries_at
SELECT id, job_id, key, input, normalized, epoch + 1, attempts, failures, crashes, strategy, suspect,
    CASE WHEN throttled_since IS NULL THEN 0 ELSE :now - throttled_since END, gate
FROM items INDEXED BY items_by_gate
WHERE job_id = :job_id AND status = 'PENDING' AND suspect = 0 AND gate != '' AND gate = :gate
AND due_at > 0 AND due_at <= :now
ORDER BY due_at, id LIMIT :limit OFFSET :skip

-- name: select_chosen
SELECT i.id, i.job_id, i.key, i.input, i.normalized, i.epoch + 1, i.attempts, i.failures,
    i.crashes, i.strategy, i.suspect,
    CASE WHEN i.throttled_since IS NULL THEN 0 ELSE :now - i.throttled_since END, i.gate
FROM json_each(:ids) AS chosen CROSS JOIN items AS i
WHERE i.id = chosen.value AND +i.job_id = :job_id AND +i.status = 'PENDING'
AND +i.suspect = :suspects AND +i.due_at <= :now
ORDER BY i.due_at, i.id LIMIT :limit

-- name: select_suspects
SELECT id, job_id, key, input, normalized, epoch + 1, attempts, failures, crashes, strategy, suspect,
    CASE WHEN throttled_since IS NULL THEN 0 ELSE :now - throttled_since END, gate
FROM items INDEXED BY items_suspect
WHERE job_id = :job_id AND status = 'PENDING' AND suspect = 1 AND due_at <= :now
ORDER BY due_at, id LIMIT :limit

-- name: lease_items
UPDATE items SET
    status = 'PROCESSING', worker = :worker, epoch = epoch + 1, leased_at = :now,
    deadline_at = :deadline, updated_at = :now
WHERE id IN (SELECT value FROM json_each(:ids)) AND +status = 'PENDING'

-- name: insert_attempts
INSERT INTO attempts (
    item_id, epoch, number, worker, strategy, outcome, error_class, reason, leased_at,
    waited_us, ran_us, ended_at, calls, trace
)
SELECT
    i.id, i.epoch, i.attempts + 1, i.worker, i.strategy, value ->> 4, value ->> 14, value ->> 15,
    i.leased_at, value ->> 16, value ->> 17, :now, value ->> 18, value ->> 23
FROM jsonb_each(:settlements) AS s CROSS JOIN items AS i
WHERE i.id = value ->> 0 AND +i.status = 'PROCESSING' AND +i.epoch = value ->> 2
AND +i.worker = :worker

-- name: settle_items
UPDATE items SET
    status = value ->> 3,
    attempts = value ->> 5,
    failures = value ->> 6,
    crashes = value ->> 7,
    strategy = value ->> 8,
    suspect = value ->> 9,
    throttled_since = CASE WHEN value ->> 10 THEN coalesce(throttled_since, :now) END,
    due_at = CASE WHEN value ->> 11 > 0 THEN :now + (value ->> 11) ELSE 0 END,
    result = value ->> 12,
    normalized = coalesce(value ->> 13, normalized),
    error_class = value ->> 14,
    last_error = value ->> 15,
    signature = value ->> 20,
    worker = NULL,
    leased_at = NULL,
    deadline_at = NULL,
    updated_at = :now
FROM jsonb_each(:settlements)
WHERE items.id = value ->> 0 AND +items.status = 'PROCESSING' AND +items.epoch = value ->> 2
AND +items.worker = :worker

-- name: set_variants
-- Only for the items just settled. None of them had a variant before.
UPDATE items SET variant = value ->> 22
FROM jsonb_each(:settlements)
WHERE items.id = value ->> 0 AND +items.status = 'ERROR' AND +items.epoch = value ->> 2
AND items.signature = value ->> 20 AND value ->> 22 IS NOT NULL

-- name: set_gates
UPDATE items SET gate = value ->> 19
FROM jsonb_each(:settlements)
WHERE items.id = value ->> 0 AND +items.status = 'PROCESSING' AND +items.epoch = value ->> 2
AND +items.worker = :worker AND value ->> 19 IS NOT NULL

-- name: keep_reusable
INSERT INTO reusable (owner, digest, job_id, item_id, finished_at)
SELECT i.owner, value ->> 21, i.job_id, i.id, :now
FROM jsonb_each(:settlements) AS s CROSS JOIN items AS i
WHERE i.id = value ->> 0 AND +i.status = 'PROCESSING' AND +i.epoch = value ->> 2
AND +i.worker = :worker AND value ->> 21 IS NOT NULL AND value ->> 3 = 'DONE'
ON CONFLICT (owner, digest) DO UPDATE SET
    job_id = excluded.job_id, item_id = excluded.item_id, finished_at = excluded.finished_at

-- name: recall
SELECT r.digest, r.item_id, i.result
FROM json_each(:digests) CROSS JOIN reusable AS r CROSS JOIN items AS i
WHERE r.owner = :owner AND r.digest = value AND r.finished_at >= :now - :within_us
AND i.id = r.item_id AND +i.status = 'DONE'

-- name: delete_reusable
DELETE FROM reusable WHERE item_id IN (SELECT value FROM json_each(:ids))

-- name: settled_ids
SELECT i.id FROM jsonb_each(:settlements) AS s CROSS JOIN items AS i
WHERE i.id = value ->> 0 AND +i.status = 'PROCESSING' AND +i.epoch = value ->> 2
AND +i.worker = :worker

-- name: insert_columns
INSERT INTO job_columns (job_id, ordinal, name)
SELECT
    :job_id,
    (SELECT count(*) FROM job_columns WHERE job_id = :job_id) + c.key,
    c.value
FROM json_each(:names) AS c WHERE TRUE
ON CONFLICT (job_id, name) DO NOTHING

-- name: release_items
UPDATE items SET
    status = 'PENDING', worker = NULL, leased_at = NULL, deadline_at = NULL, updated_at = :now
FROM json_each(:held) AS held
WHERE items.id = held.value ->> 0 AND +items.status = 'PROCESSING'
AND +items.epoch = held.value ->> 1 AND +items.worker = :worker
RETURNING items.job_id

-- name: extend_leases
UPDATE items SET deadline_at = max(deadline_at, :now + :lease_us)
FROM json_each(:held) AS held
WHERE items.id = held.value ->> 0 AND +items.status = 'PROCESSING'
AND +items.epoch = held.value ->> 1 AND +items.worker = :worker
RETURNING items.id

-- name: leases_of
SELECT items.id, job_id, key, input, normalized, epoch, attempts, failures, crashes, strategy,
    suspect, CASE WHEN throttled_since IS NULL THEN 0 ELSE :now - throttled_since END, gate
FROM jobs CROSS JOIN items INDEXED BY items_by_status
WHERE jobs.state != 'DONE' AND job_id = jobs.id AND status = 'PROCESSING' AND worker = :worker

-- name: overdue
SELECT items.id, epoch, worker, (deadline_at - leased_at) / 1000000.0
FROM jobs CROSS JOIN items INDEXED BY items_by_status
WHERE jobs.state != 'DONE' AND job_id = jobs.id AND status = 'PROCESSING' AND deadline_at < :now
LIMIT :limit

-- name: return_leases
UPDATE items SET
    status = 'PENDING', worker = NULL, leased_at = NULL, deadline_at = NULL, updated_at = :now
WHERE id IN (
    SELECT i.id FROM jobs AS j CROSS JOIN items AS i INDEXED BY items_by_status
    WHERE j.state != 'DONE' AND i.job_id = j.id AND i.status = 'PROCESSING' AND i.worker = :worker
)
RETURNING job_id

-- name: select_requeue
SELECT id, status FROM items
WHERE job_id = :job_id AND id > :after_id
AND status IN (SELECT value FROM json_each(:statuses))
AND (:ids IS NULL OR id IN (SELECT value FROM json_each(:ids)))
AND id NOT IN (SELECT value FROM json_each(:but_ids))
AND (:last_id IS NULL OR id <= :last_id)
AND (:error_class IS NULL OR error_class = :error_class)
AND (:but_class IS NULL OR error_class IS NULL OR error_class != :but_class)
AND (:signature IS NULL OR signature = :signature)
AND (:variant IS NULL OR variant = :variant)
AND (:below_attempts IS NULL OR attempts < :below_attempts)
AND (:changed_from IS NULL OR updated_at >= :changed_from)
AND (:changed_to IS NULL OR updated_at < :changed_to)
AND (
    :text IS NULL
    OR key LIKE :text ESCAPE '\' OR summary LIKE :text ESCAPE '\'
    OR key LIKE :lower ESCAPE '\' OR summary LIKE :lower ESCAPE '\'
    OR key LIKE :upper ESCAPE '\' OR summary LIKE :upper ESCAPE '\'
    OR key LIKE :title ESCAPE '\' OR summary LIKE :title ESCAPE '\'
)
ORDER BY id LIMIT :limit

-- name: lock_items
-- Only one transaction writes at a time, so the items are as they were found.
SELECT id, status FROM items WHERE id IN (SELECT value FROM json_each(:ids)) ORDER BY id

-- name: window_in_order
SELECT id FROM items INDEXED BY items_in_order
WHERE job_id = :job_id AND id > :after_id ORDER BY id LIMIT 1 OFFSET :rows - 1

-- name: requeue_items
UPDATE items SET
    status = 'PENDING', due_at = 0, failures = 0, crashes = 0, strategy = 0, suspect = 0,
    throttled_since = NULL, result = NULL, error_class = NULL, last_error = NULL, signature = NULL,
    variant = NULL,
    attempts = CASE WHEN :reset_attempts THEN 0 ELSE attempts END,
    updated_at = :now
WHERE id IN (SELECT value FROM json_each(:ids))

-- name: decide_item
UPDATE items SET
    status = :status, result = :result, last_error = :reason, updated_at = :now
WHERE id = :item_id AND status = 'REVIEW'

-- name: insert_decision
INSERT INTO decisions (item_id, epoch, move, candidate, decided_by, decided_at, reason)
VALUES (:item_id, :epoch, :move, :candidate, :by, :now, :reason)

-- name: delete_decisions
DELETE FROM decisions WHERE item_id IN (SELECT value FROM json_each(:ids))

-- name: select_open
SELECT id, status FROM items
WHERE job_id = :job_id AND status IN (SELECT value FROM json_each(:statuses)) LIMIT :limit

-- name: cancel_items
UPDATE items SET
    status = 'CANCELLED', worker = NULL, leased_at = NULL, deadline_at = NULL, updated_at = :now
WHERE id IN (SELECT value FROM json_each(:ids))

-- name: insert_cancelled_attempts
INSERT INTO attempts (
    item_id, epoch, number, worker, strategy, outcome, leased_at, waited_us, ran_us, ended_at
)
SELECT id, epoch, attempts + 1, worker, strategy, 'cancelled', leased_at, 0, 0, :now
FROM items WHERE id IN (SELECT value FROM json_each(:ids)) AND status = 'PROCESSING'

-- name: select_any
SELECT id, status FROM items WHERE job_id = :job_id ORDER BY id LIMIT :limit

-- name: delete_attempts
DELETE FROM attempts WHERE item_id IN (SELECT value FROM json_each(:ids))

-- name: delete_items
DELETE FROM items WHERE id IN (SELECT value FROM json_each(:ids))

-- name: delete_counts
DELETE FROM job_counts WHERE job_id = :job_id

-- name: delete_columns
DELETE FROM job_columns WHERE job_id = :job_id

-- name: delete_exports
DELETE FROM exports WHERE job_id = :job_id

-- name: delete_job
DELETE FROM jobs WHERE id = :job_id

-- name: demand
SELECT id, owner, priority,
    EXISTS (
        SELECT 1 FROM items INDEXED BY items_claimable
        WHERE job_id = jobs.id AND status = 'PENDING' AND suspect = 0 AND due_at <= :now
    ),
    EXISTS (
        SELECT 1 FROM items INDEXED BY items_suspect
        WHERE job_id = jobs.id AND status = 'PENDING' AND suspect = 1 AND due_at <= :now
    ),
    EXISTS (
        SELECT 1 FROM items WHERE job_id = jobs.id AND status = 'PENDING'
    ) OR EXISTS (
        SELECT 1 FROM items WHERE job_id = jobs.id AND status = 'PROCESSING'
    ),
    (
        SELECT min(due_at) FROM items INDEXED BY items_claimable
        WHERE job_id = jobs.id AND status = 'PENDING' AND suspect = 0
    ) - :now,
    (
        SELECT min(due_at) FROM items INDEXED BY items_suspect
        WHERE job_id = jobs.id AND status = 'PENDING' AND suspect = 1
    ) - :now,
    ingest_complete = 1 AND open = 0
FROM jobs
WHERE (state IN ('QUEUED', 'RUNNING') OR (state = 'INGESTING' AND eager = 1))
AND (:jobs IS NULL OR id IN (SELECT value FROM json_each(:jobs)))
AND (:handlers IS NULL OR handler IN (SELECT value FROM json_each(:handlers)))

-- name: counts_of
SELECT i.status, count(*) FROM json_each(:ids) AS chosen CROSS JOIN items AS i
WHERE i.id = chosen.value AND i.job_id = :job_id GROUP BY i.status

-- name: demand_for
SELECT j.id, j.owner, j.priority,
    coalesce(max(i.status = 'PENDING' AND i.suspect = 0 AND i.due_at <= :now), 0),
    coalesce(max(i.status = 'PENDING' AND i.suspect = 1 AND i.due_at <= :now), 0),
    coalesce(max(i.status IN ('PENDING', 'PROCESSING')), 0),
    min(CASE WHEN i.status = 'PENDING' THEN i.due_at END) - :now,
    0
FROM jobs AS j CROSS JOIN json_each(:ids) AS chosen CROSS JOIN items AS i
WHERE j.id = :job_id AND i.id = chosen.value AND i.job_id = j.id
AND (j.state IN ('QUEUED', 'RUNNING') OR (j.state = 'INGESTING' AND j.eager = 1))
GROUP BY j.id

-- name: register
INSERT INTO workers (
    id, session_id, host, boot_id, pid, started_ticks, version, ttl_s, jobs, registered_at, beat_at
) VALUES (
    :id, :session_id, :host, :boot_id, :pid, :started_ticks, :version, :ttl_s, :jobs, :now, :now
)

-- name: beat
UPDATE workers SET beat = beat + 1, beat_at = :now, ttl_s = :ttl_s,
    claim_size = (
        SELECT claim.value FROM json_each(:workers) AS told JOIN json_each(:claims) AS claim USING (key)
        WHERE told.value = workers.id
    )
WHERE id IN (SELECT value FROM json_each(:workers)) AND stopped_at IS NULL
RETURNING id

-- name: ask_drain
UPDATE workers SET drain_at = coalesce(drain_at, :now)
WHERE id = :worker AND stopped_at IS NULL
RETURNING id

-- name: draining
SELECT id FROM workers
WHERE id IN (SELECT value FROM json_each(:workers)) AND drain_at IS NOT NULL

-- name: stop_worker
UPDATE workers SET stopped_at = :now, stop_reason = :reason
WHERE id = :worker AND stopped_at IS NULL
RETURNING id

-- name: elect
INSERT INTO duties (name, holder, until_at) VALUES (:duty, :holder, :now + :ttl_us)
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until_at = excluded.until_at
WHERE duties.holder = excluded.holder OR duties.until_at < :now
RETURNING holder

-- name: record_session
INSERT INTO sessions (
    id, job_id, command, worker_count, started_at, ended_at, settled, items_per_s
) VALUES (
    :id, :job_id, :command, :worker_count, :now, CASE WHEN :ended THEN :now END, :settled,
    :items_per_s
)
ON CONFLICT (id) DO UPDATE SET
    worker_count = excluded.worker_count,
    ended_at = excluded.ended_at,
    settled = excluded.settled,
    items_per_s = excluded.items_per_s

-- name: insert_event
INSERT INTO events (at, job_id, item_id, kind, message, owner)
VALUES (
    :now, :job_id, :item_id, :kind, :message, (SELECT jobs.owner FROM jobs WHERE jobs.id = :job_id)
)

-- name: retain_events
DELETE FROM events WHERE id IN (SELECT id FROM events WHERE at < :now - :older_than_us ORDER BY id LIMIT :limit)

-- name: retain_changes
DELETE FROM row_changes WHERE id IN (
    SELECT id FROM row_changes INDEXED BY row_changes_by_age
    WHERE at < :now - :older_than_us ORDER BY at LIMIT :limit
)

-- name: retain_sessions
DELETE FROM sessions WHERE ended_at < :now - :older_than_us

-- name: retain_workers
DELETE FROM workers WHERE stopped_at < :now - :older_than_us

-- name: retain_made_once
DELETE FROM made_once WHERE created_at < :now - :older_than_us AND substr(key, 1, length(:kept)) != :kept

-- name: retain_tokens
DELETE FROM tokens AS t
WHERE (revoked_at < :now - :older_than_us OR expires_at < :now - :older_than_us OR until_at < :now - :older_than_us)
AND NOT EXISTS (SELECT 1 FROM tokens AS made WHERE made.opened_by = t.id)

-- name: items_in_order
SELECT id, job_id, key, line, status, summary, attempts, crashes, error_class, last_error, due_at,
    worker AS locked_by, updated_at, CASE WHEN :with_result THEN result END AS result,
    owner, handler, gate
FROM items INDEXED BY items_in_order
WHERE job_id = :job_id AND id > :after_id AND id <= :last_id
AND (:statuses IS NULL OR status IN (SELECT value FROM json_each(:statuses)))
AND (:error_class IS NULL OR error_class = :error_class)
AND (
    :text IS NULL
    OR key LIKE :text ESCAPE '\' OR summary LIKE :text ESCAPE '\'
    OR key LIKE :lower ESCAPE '\' OR summary LIKE :lower ESCAPE '\'
    OR key LIKE :upper ESCAPE '\' OR summary LIKE :upper ESCAPE '\'
    OR key LIKE :title ESCAPE '\' OR summary LIKE :title ESCAPE '\'
)
ORDER BY id LIMIT :limit

-- name: items_by_signature
SELECT id, job_id, key, line, status, summary, attempts, crashes, error_class, last_error, due_at,
    worker AS locked_by, updated_at, CASE WHEN :with_result THEN result END AS result,
    owner, handler, gate
FROM items INDEXED BY items_by_signature
WHERE job_id = :job_id AND signature = :signature AND status = 'ERROR'
AND id > :after_id AND id <= :last_id
AND (:variant IS NULL OR variant = :variant)
AND (:error_class IS NULL OR error_class = :error_class)
AND (
    :text IS NULL
    OR key LIKE :text ESCAPE '\' OR summary LIKE :text ESCAPE '\'
    OR key LIKE :lower ESCAPE '\' OR summary LIKE :lower ESCAPE '\'
    OR key LIKE :upper ESCAPE '\' OR summary LIKE :upper ESCAPE '\'
    OR key LIKE :title ESCAPE '\' OR summary LIKE :title ESCAPE '\'
)
ORDER BY id LIMIT :limit

-- name: items_by_status
SELECT id, job_id, key, line, status, summary, attempts, crashes, error_class, last_error, due_at,
    worker AS locked_by, updated_at, CASE WHEN :with_result THEN result END AS result,
    owner, handler, gate
FROM items INDEXED BY items_by_status
WHERE job_id = :job_id AND status = :status AND (updated_at, id) > (:after_at, :after_id)
AND (updated_at, id) < (:before_at, :before_id)
AND (:error_class IS NULL OR error_class = :error_class)
AND (:signature IS NULL OR signature = :signature)
AND (:variant IS NULL OR variant = :variant)
AND (
    :text IS NULL
    OR key LIKE :text ESCAPE '\' OR summary LIKE :text ESCAPE '\'
    OR key LIKE :lower ESCAPE '\' OR summary LIKE :lower ESCAPE '\'
    OR key LIKE :upper ESCAPE '\' OR summary LIKE :upper ESCAPE '\'
    OR key LIKE :title ESCAPE '\' OR summary LIKE :title ESCAPE '\'
)
ORDER BY updated_at, id LIMIT :limit

-- name: window_by_status
SELECT updated_at, id FROM items INDEXED BY items_by_status
WHERE job_id = :job_id AND status = :status AND (updated_at, id) > (:after_at, :after_id)
AND (updated_at, id) < (:before_at, :before_id)
ORDER BY updated_at, id LIMIT 1 OFFSET :rows - 1

-- name: unfinished_jobs
SELECT id FROM jobs
WHERE state != 'DONE' AND (:owner IS NULL OR owner = :owner)
AND (:handler IS NULL OR handler = :handler)

-- name: items_across_jobs
-- Told that one status is rare, the planner reads it in order; otherwise it may take the list
-- below.
SELECT id, job_id, key, line, status, summary, attempts, crashes, error_class, last_error, due_at,
    worker AS locked_by, updated_at, CASE WHEN :with_result THEN result END AS result,
    owner, handler, gate
FROM items INDEXED BY items_across_jobs
WHERE likelihood(status = :status, 0.0001) AND owner = :owner
AND (updated_at, id) > (:after_at, :after_id)
AND (updated_at, id) < (:before_at, :before_id)
AND (:handler IS NULL OR handler = :handler)
AND (:error_class IS NULL OR error_class = :error_class)
AND (:signature IS NULL OR signature = :signature)
AND (:variant IS NULL OR variant = :variant)
AND (
    :text IS NULL
    OR key LIKE :text ESCAPE '\' OR summary LIKE :text ESCAPE '\'
    OR key LIKE :lower ESCAPE '\' OR summary LIKE :lower ESCAPE '\'
    OR key LIKE :upper ESCAPE '\' OR summary LIKE :upper ESCAPE '\'
    OR key LIKE :title ESCAPE '\' OR summary LIKE :title ESCAPE '\'
)
AND status IN ('REVIEW', 'ERROR', 'NOT_FOUND')
ORDER BY updated_at, id LIMIT :limit

-- name: window_across_jobs
SELECT updated_at, id FROM items INDEXED BY items_across_jobs
WHERE likelihood(status = :status, 0.0001) AND owner = :owner
AND (updated_at, id) > (:after_at, :after_id)
AND (updated_at, id) < (:before_at, :before_id)
AND status IN ('REVIEW', 'ERROR', 'NOT_FOUND')
ORDER BY updated_at, id LIMIT 1 OFFSET :rows - 1

-- name: owners
SELECT DISTINCT owner FROM jobs

-- name: item
SELECT * FROM items WHERE id = :item_id

-- name: items_by_key
SELECT i.id, i.job_id, i.key, i.line, i.status, i.summary, i.attempts, i.crashes, i.error_class,
    i.last_error, i.due_at, i.worker AS locked_by, i.updated_at, i.result, i.owner, i.handler,
    i.gate
FROM jobs AS j CROSS JOIN items AS i
WHERE i.job_id = j.id AND i.key = :key AND (:job_id IS NULL OR j.id = :job_id)
AND (:owner IS NULL OR j.owner = :owner)
ORDER BY j.id DESC LIMIT 100

-- name: last_decision
SELECT move, candidate, decided_by, reason FROM decisions
WHERE item_id = :item_id ORDER BY epoch DESC LIMIT 1

-- name: newest_change
SELECT max(
    coalesce((
        SELECT max(updated_at) FROM items WHERE job_id = :job_id AND status = 'PENDING'
    ), 0),
    coalesce((
        SELECT max(updated_at) FROM items WHERE job_id = :job_id AND status = 'ERROR'
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
    SELECT * FROM (
        SELECT id, status, error_class, last_error, updated_at
        FROM items INDEXED BY items_claimable
        WHERE job_id = :job_id AND status = 'PENDING' AND suspect = 0 AND due_at > 0
        ORDER BY due_at, id LIMIT :limit
    )
    UNION ALL
    SELECT * FROM (
        SELECT id, status, error_class, last_error, updated_at
        FROM items INDEXED BY items_by_status
        WHERE job_id = :job_id AND status = 'ERROR' AND updated_at > :since_at
        ORDER BY updated_at, id LIMIT :limit
    )
) AS f
WHERE f.updated_at > :since_at AND f.error_class IS NOT NULL
AND (f.status = 'ERROR' OR f.error_class IN ('transient', 'timeout'))

-- name: first_rows
SELECT id FROM items INDEXED BY items_in_order WHERE job_id = :job_id ORDER BY id LIMIT :limit

-- name: rows_at_places
SELECT id FROM (
    SELECT id, row_number() OVER (ORDER BY id) AS place
    FROM items INDEXED BY items_in_order WHERE job_id = :job_id
) WHERE place IN (SELECT value FROM json_each(:places))
ORDER BY id

-- name: attempts
SELECT number, epoch, worker, strategy, outcome, error_class, reason, leased_at, waited_us, ran_us,
    ended_at, calls, trace
FROM attempts WHERE item_id = :item_id ORDER BY epoch

-- name: calls
SELECT page.id, a.calls
FROM (
    SELECT id FROM items WHERE job_id = :job_id AND id > :after_id ORDER BY id LIMIT :limit
) AS page
LEFT JOIN attempts AS a ON a.item_id = page.id AND a.calls IS NOT NULL
ORDER BY page.id, a.epoch

-- name: events
SELECT id, at, job_id, item_id, kind, message FROM events
WHERE id > :after_id
ORDER BY id LIMIT :limit

-- name: last_events
SELECT id, at, job_id, item_id, kind, message FROM events
WHERE id < :before_id
ORDER BY id DESC LIMIT :limit

-- name: events_of_job
SELECT id, at, job_id, item_id, kind, message FROM events INDEXED BY events_by_job
WHERE job_id = :job_id AND id > :after_id AND (:owner IS NULL OR owner = :owner)
ORDER BY id LIMIT :limit

-- name: last_events_of_job
SELECT id, at, job_id, item_id, kind, message FROM events INDEXED BY events_by_job
WHERE job_id = :job_id AND id < :before_id AND (:owner IS NULL OR owner = :owner)
ORDER BY id DESC LIMIT :limit

-- name: events_of_owner
SELECT id, at, job_id, item_id, kind, message FROM events INDEXED BY events_by_owner
WHERE owner = :owner AND id > :after_id
ORDER BY id LIMIT :limit

-- name: last_events_of_owner
SELECT id, at, job_id, item_id, kind, message FROM events INDEXED BY events_by_owner
WHERE owner = :owner AND id < :before_id
ORDER BY id DESC LIMIT :limit

-- name: export_rows
SELECT id, key, status, input, result, error_class, last_error
FROM items INDEXED BY items_in_order
WHERE job_id = :job_id AND id > :after_id ORDER BY id LIMIT :limit

-- name: histories
SELECT a.item_id, a.number, a.epoch, a.worker, a.strategy, a.outcome, a.error_class, a.reason,
    a.leased_at, a.waited_us, a.ran_us, a.ended_at, a.calls
FROM items AS i INDEXED BY items_in_order CROSS JOIN attempts AS a
WHERE i.job_id = :job_id AND i.id > :after_id AND i.id <= :last_id AND a.item_id = i.id
ORDER BY i.id, a.epoch

-- name: rows_by_key
SELECT i.id, i.key, i.status, i.input, i.result, i.error_class, i.last_error
FROM json_each(:keys) AS given CROSS JOIN items AS i
WHERE i.job_id = :job_id AND i.key = given.value

-- name: result_columns
SELECT name FROM job_columns WHERE job_id = :job_id ORDER BY ordinal, name

-- name: error_groups
-- A signature begins with its class, so one row of a group has the class of all. Variants are
-- separate groups while they are few and all rows of the signature have one: rows from before that
-- migration have none.
WITH fine AS MATERIALIZED (
    SELECT signature, variant, count(*) AS n, min(id) AS id
    FROM items INDEXED BY items_by_signature
    WHERE job_id = :job_id AND status = 'ERROR'
    GROUP BY signature, variant
),
told AS (
    SELECT signature, n, id,
        CASE
            WHEN count(*) OVER of_signature <= :variants
            AND count(variant) OVER of_signature = count(*) OVER of_signature THEN variant
        END AS variant
    FROM fine WINDOW of_signature AS (PARTITION BY signature)
),
kind AS (
    SELECT signature, variant, sum(n) AS n, min(id) AS id FROM told
    GROUP BY signature, variant ORDER BY sum(n) DESC, min(id) LIMIT :limit
)
SELECT one.error_class, coalesce(kind.variant, kind.signature, one.error_class), kind.n, one.id,
    coalesce(one.last_error, '')
FROM kind JOIN items AS one ON one.id = kind.id
ORDER BY kind.n DESC, one.id

-- name: workers
SELECT id, session_id, host, boot_id, pid, started_ticks, version, ttl_s, beat, registered_at,
    beat_at, stopped_at,
    (
        SELECT count(*) FROM jobs AS j CROSS JOIN items AS i INDEXED BY items_by_status
        WHERE j.state != 'DONE' AND i.job_id = j.id AND i.status = 'PROCESSING'
        AND i.worker = workers.id
    ),
    drain_at IS NOT NULL, claim_size
FROM workers
WHERE :alive_only = 0 OR stopped_at IS NULL
ORDER BY registered_at DESC

-- name: half_cancelled
SELECT j.id FROM jobs AS j
WHERE j.state = 'CANCELLED' AND (
    EXISTS (SELECT 1 FROM items WHERE job_id = j.id AND status = 'PENDING')
    OR EXISTS (SELECT 1 FROM items WHERE job_id = j.id AND status = 'PROCESSING')
)

-- name: totals
SELECT count(*) FROM jobs

-- name: all_counts
SELECT status, sum(n) FROM job_counts GROUP BY status

-- name: duties
SELECT name, holder, until_at FROM duties ORDER BY name

-- name: wrong_counts
WITH counted AS (
    SELECT job_id, status, count(*) AS n FROM items GROUP BY job_id, status
), kept AS (
    SELECT job_id, status, sum(n) AS n FROM job_counts GROUP BY job_id, status
)
SELECT job_id, status, coalesce(kept.n, 0), coalesce(counted.n, 0)
FROM counted FULL JOIN kept USING (job_id, status)
WHERE coalesce(kept.n, 0) != coalesce(counted.n, 0)

-- name: lost_leases
SELECT i.worker, count(*) FROM items AS i LEFT JOIN workers AS w ON w.id = i.worker
WHERE i.status = 'PROCESSING' AND (w.id IS NULL OR w.stopped_at IS NOT NULL)
GROUP BY i.worker

-- name: finished_with_open
SELECT j.id, j.state, count(*) FROM jobs AS j JOIN items AS i ON i.job_id = j.id
WHERE j.state = 'DONE' AND i.status IN ('PENDING', 'PROCESSING')
GROUP BY j.id

-- name: orphans
SELECT (SELECT count(*) FROM items WHERE job_id NOT IN (SELECT id FROM jobs)),
    (SELECT count(*) FROM attempts WHERE item_id NOT IN (SELECT id FROM items)),
    (SELECT count(*) FROM decisions WHERE item_id NOT IN (SELECT id FROM items)),
    (SELECT count(*) FROM exports WHERE job_id NOT IN (SELECT id FROM jobs)),
    (SELECT count(*) FROM tokens WHERE user_name NOT IN (SELECT name FROM users)),
    (
        SELECT count(*) FROM reusable AS r LEFT JOIN items AS i ON i.id = r.item_id
        WHERE i.status IS NOT 'DONE'
    ),
    (SELECT count(*) FROM mirror_rows WHERE stream_id NOT IN (SELECT id FROM streams)),
    (SELECT count(*) FROM mirror_rows WHERE number NOT IN (SELECT number FROM mirror_bodies)),
    (SELECT count(*) FROM mirror_bodies WHERE number NOT IN (SELECT number FROM mirror_rows)),
    (SELECT count(*) FROM row_changes WHERE number NOT IN (SELECT number FROM mirror_rows)),
    (SELECT count(*) FROM checkpoints WHERE stream_id NOT IN (SELECT id FROM streams)),
    0

-- name: short_histories
SELECT i.id, i.attempts FROM items AS i
WHERE i.attempts > (SELECT count(*) FROM attempts AS a WHERE a.item_id = i.id)
LIMIT 20

-- name: integrity
PRAGMA integrity_check(10)

-- name: swap_gates
INSERT INTO gates (key, version, state, ticket, updated_at, urgent_at, urgent_by)
SELECT p.key, p.version + 1, p.state, :ticket, :now,
    CASE WHEN p.urgent THEN :now ELSE 0 END,
    CASE WHEN p.urgent THEN :sender ELSE '' END
FROM (
    SELECT value ->> 'key' AS key, value ->> 'version' AS version, value ->> 'state' AS state,
        value ->> 'urgent' AS urgent
    FROM json_each(:proposals)
) AS p
WHERE p.version = 0 OR EXISTS (SELECT 1 FROM gates AS g WHERE g.key = p.key)
ON CONFLICT (key) DO UPDATE SET
    version = gates.version + 1,
    state = excluded.state,
    ticket = excluded.ticket,
    updated_at = excluded.updated_at,
    urgent_at = CASE WHEN excluded.urgent_at > 0 THEN excluded.urgent_at ELSE gates.urgent_at END,
    urgent_by = CASE WHEN excluded.urgent_at > 0 THEN excluded.urgent_by ELSE gates.urgent_by END
WHERE CASE WHEN gates.state IS NULL THEN 0 ELSE gates.version END = excluded.version - 1

-- name: gates
SELECT key, CASE WHEN state IS NULL THEN 0 ELSE version END, coalesce(state, ''), ticket FROM gates
WHERE key IN (SELECT value FROM json_each(:keys))

-- name: gates_under
SELECT key, version, state FROM gates
WHERE key >= :prefix AND substr(key, 1, length(:prefix)) = :prefix AND state IS NOT NULL
ORDER BY key

-- name: forget_gate
UPDATE gates SET
    version = version + 1, state = NULL, ticket = :ticket, updated_at = :now, urgent_at = :now,
    urgent_by = :sender
WHERE key = :key AND state IS NOT NULL

-- name: urgent_since
SELECT max(urgent_at) FROM gates WHERE urgent_at > :seen AND urgent_by != :sender

-- name: add_user
INSERT INTO users (name, role, password_hash, created_at)
VALUES (:name, :role, :password_hash, :now)
ON CONFLICT (name) DO NOTHING
RETURNING *

-- name: change_user
UPDATE users SET
    role = coalesce(:role, role), password_hash = coalesce(:password_hash, password_hash),
    disabled_at = CASE :disabled
        WHEN 1 THEN coalesce(disabled_at, :now) WHEN 0 THEN NULL ELSE disabled_at
    END
WHERE name = :name
RETURNING *

-- name: user
SELECT * FROM users WHERE name = :name

-- name: users
SELECT * FROM users ORDER BY name

-- name: insert_token
WITH RECURSIVE makers AS (
    SELECT * FROM tokens WHERE id = :opened_by
    UNION ALL
    SELECT o.* FROM tokens AS o JOIN makers AS m ON o.id = m.opened_by
)
INSERT INTO tokens (
    id, user_name, digest, kind, role, label, opened_by, created_at, expires_at, until_at
)
SELECT :id, :user, :digest, :kind, :role, :label, :opened_by, :now, min(ends_at),
    :now + :renewed_us
FROM (
    SELECT :now + :lives_us AS ends_at
    UNION ALL
    SELECT expires_at FROM makers WHERE kind != 'login'
)
RETURNING *

-- name: renew_token
UPDATE tokens SET until_at = :now + :renewed_us WHERE id = :id AND revoked_at IS NULL
RETURNING *

-- name: expire_token
UPDATE tokens SET expires_at = :now
WHERE id = :id AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)
RETURNING *

-- name: held_tokens
SELECT count(*) FROM tokens AS t
WHERE user_name = :user AND kind = 'api' AND revoked_at IS NULL
AND (expires_at IS NULL OR expires_at > :now) AND (until_at IS NULL OR until_at > :now)
AND (
    opened_by IS NULL OR EXISTS (
        WITH RECURSIVE makers AS (
            SELECT o.* FROM tokens AS o WHERE o.id = t.opened_by
            UNION ALL
            SELECT o.* FROM tokens AS o JOIN makers AS m ON o.id = m.opened_by
        )
        SELECT count(*) FROM makers
        HAVING sum(opened_by IS NULL) = 1 AND sum(
            revoked_at IS NOT NULL OR ifnull(until_at <= :now, 0)
            OR (kind != 'login' AND ifnull(expires_at <= :now, 0))
        ) = 0
    )
)

-- name: bearer
SELECT *, :now AS now FROM tokens AS t
WHERE digest = :digest AND kind = :kind AND revoked_at IS NULL
AND (expires_at IS NULL OR expires_at > :now) AND (until_at IS NULL OR until_at > :now)
AND EXISTS (SELECT 1 FROM users WHERE name = user_name AND disabled_at IS NULL)
AND (
    opened_by IS NULL OR EXISTS (
        WITH RECURSIVE makers AS (
            SELECT o.* FROM tokens AS o WHERE o.id = t.opened_by
            UNION ALL
            SELECT o.* FROM tokens AS o JOIN makers AS m ON o.id = m.opened_by
        )
        SELECT count(*) FROM makers
        HAVING sum(opened_by IS NULL) = 1 AND sum(
            revoked_at IS NOT NULL OR ifnull(until_at <= :now, 0)
            OR (kind != 'login' AND ifnull(expires_at <= :now, 0))
        ) = 0
    )
)

-- name: note_use
UPDATE tokens SET last_used_at = :now WHERE id = :id RETURNING *

-- name: tokens
SELECT * FROM tokens AS t
WHERE (:user IS NULL OR user_name = :user) AND revoked_at IS NULL
AND (expires_at IS NULL OR expires_at > :now) AND (until_at IS NULL OR until_at > :now)
AND (
    opened_by IS NULL OR EXISTS (
        WITH RECURSIVE makers AS (
            SELECT o.* FROM tokens AS o WHERE o.id = t.opened_by
            UNION ALL
            SELECT o.* FROM tokens AS o JOIN makers AS m ON o.id = m.opened_by
        )
        SELECT count(*) FROM makers
        HAVING sum(opened_by IS NULL) = 1 AND sum(
            revoked_at IS NOT NULL OR ifnull(until_at <= :now, 0)
            OR (kind != 'login' AND ifnull(expires_at <= :now, 0))
        ) = 0
    )
)
ORDER BY created_at DESC, id

-- name: revoke_token
UPDATE tokens SET revoked_at = :now
WHERE id = :id AND revoked_at IS NULL AND (:user IS NULL OR user_name = :user)
AND (expires_at IS NULL OR expires_at > :now)
RETURNING *

-- name: revoke_tokens
UPDATE tokens SET revoked_at = :now WHERE user_name = :user AND revoked_at IS NULL

-- name: revoke_tokens_of_password
UPDATE tokens SET revoked_at = :now
WHERE user_name = :user AND revoked_at IS NULL AND until_at IS NULL AND id IS NOT :asked_with

-- name: revoke_tokens_of_role
UPDATE tokens SET revoked_at = :now
WHERE revoked_at IS NULL AND (
    (user_name = :user AND kind = 'login')
    OR (
        user_name != :user
        AND opened_by IN (SELECT id FROM tokens WHERE user_name = :user)
    )
)

-- name: login_tries
SELECT k.value AS key, coalesce(t.full_at, 0) AS full_at,
    coalesce(t.known_until, 0) AS known_until, :now AS now
FROM json_each(:keys) AS k LEFT JOIN login_tries AS t ON t.key = k.value

-- name: charge_login
INSERT INTO login_tries (key, full_at, over_at) VALUES (:key, :full_at, :full_at)
ON CONFLICT (key) DO UPDATE SET
    full_at = excluded.full_at, over_at = max(excluded.full_at, known_until)

-- name: refund_login
UPDATE login_tries SET full_at = full_at - :step_us WHERE key = :key

-- name: know_login
UPDATE login_tries SET known_until = :now + :known_us, over_at = :now + :known_us
WHERE key = :key

-- name: forget_logins
DELETE FROM login_tries WHERE over_at < :now

-- name: ask_export
INSERT INTO exports (job_id, format, asked_by, options, created_at, updated_at)
VALUES (:job_id, :format, :asked_by, :options, :now, :now)
RETURNING *

-- name: unfinished_exports
SELECT count(*) FROM exports INDEXED BY exports_to_make
WHERE state IN ('QUEUED', 'RUNNING') AND asked_by = :asked_by

-- name: exports_to_make
SELECT id, asked_by FROM (
    SELECT id, asked_by, row_number() OVER (PARTITION BY asked_by ORDER BY id) AS place
    FROM exports INDEXED BY exports_to_make
    WHERE state IN ('QUEUED', 'RUNNING') AND (state = 'QUEUED' OR until_at < :now)
)
WHERE place <= :per_user ORDER BY id

-- name: take_export
UPDATE exports SET
    state = 'RUNNING', holder = :holder, until_at = :now + :ttl_us, written = 0, updated_at = :now
WHERE id = :id AND (state = 'QUEUED' OR (state = 'RUNNING' AND until_at < :now))
RETURNING *

-- name: advance_export
UPDATE exports SET written = :rows, until_at = :now + :ttl_us, updated_at = :now
WHERE id = :id AND state = 'RUNNING' AND holder = :holder
RETURNING id

-- name: finish_export
UPDATE exports SET
    state = 'DONE', written = :rows, sha256 = :sha256, file = :file, size = :size,
    report = :report, holder = NULL, until_at = NULL, updated_at = :now, finished_at = :now
WHERE id = :id AND state = 'RUNNING' AND holder = :holder
RETURNING *

-- name: fail_export
UPDATE exports SET
    state = 'FAILED', error = :reason, holder = NULL, until_at = NULL, updated_at = :now,
    finished_at = :now
WHERE id = :id AND state = 'RUNNING' AND holder = :holder
RETURNING *

-- name: export
SELECT * FROM exports WHERE id = :id AND job_id = :job_id

-- name: exports
SELECT * FROM exports INDEXED BY exports_by_job WHERE job_id = :job_id ORDER BY id DESC

-- name: drop_exports
DELETE FROM exports WHERE id IN (
    SELECT id FROM exports INDEXED BY exports_by_age
    WHERE finished_at < :now - :older_than_us ORDER BY finished_at LIMIT :limit
)
RETURNING *

-- name: mirror_of_owner
SELECT * FROM mirrors WHERE owner = :owner AND name = :name

-- name: mirrors
SELECT * FROM mirrors WHERE :owner IS NULL OR owner = :owner ORDER BY name, owner

-- name: mirror_by_id
SELECT * FROM mirrors WHERE id = :mirror_id AND (:owner IS NULL OR owner = :owner)

-- name: mirror_of_pass
SELECT * FROM mirrors
WHERE id = coalesce(
    (SELECT mirror_id FROM jobs WHERE id = :pass_id),
    (SELECT mirror_id FROM checkpoints WHERE job_id = :pass_id LIMIT 1)
)
AND (:owner IS NULL OR owner = :owner)

-- name: put_mirror
INSERT INTO mirrors (owner, name, source, digest, history, created_at)
VALUES (:owner, :name, :source, :digest, :history, :now)
ON CONFLICT (owner, name) DO UPDATE SET
    source = excluded.source, digest = excluded.digest, history = excluded.history
RETURNING *

-- name: put_streams
INSERT INTO streams (mirror_id, name)
SELECT :mirror_id, value FROM json_each(:names) WHERE TRUE
ON CONFLICT (mirror_id, name) DO NOTHING

-- name: streams
SELECT id, mirror_id, name, watermark, full_pass, live FROM streams
WHERE mirror_id = :mirror_id ORDER BY id

-- name: unfinished_pass
SELECT * FROM jobs INDEXED BY jobs_by_mirror
WHERE mirror_id = :mirror_id AND state IN ('INGESTING', 'QUEUED', 'RUNNING', 'PAUSED')
ORDER BY id DESC LIMIT 1

-- name: start_pass
UPDATE jobs SET mirror_id = :mirror_id, state = 'QUEUED', ingest_complete = 1, updated_at = :now
WHERE id = :job_id
RETURNING *

-- name: insert_checkpoints
INSERT INTO checkpoints (
    job_id, name, mirror_id, stream_id, after_checkpoint, mode, since, closing, started_at
)
SELECT :job_id, value ->> 0, s.mirror_id, s.id, value ->> 2, value ->> 3, value ->> 4,
    value ->> 5, :now
FROM jsonb_each(:rows) CROSS JOIN streams AS s
WHERE s.mirror_id = :mirror_id AND s.name = value ->> 1

-- name: passes
SELECT id FROM (
    SELECT id FROM jobs INDEXED BY jobs_by_mirror WHERE mirror_id = :mirror_id
    UNION
    SELECT job_id FROM checkpoints INDEXED BY checkpoints_by_mirror WHERE mirror_id = :mirror_id
)
WHERE :before IS NULL OR id < :before ORDER BY id DESC LIMIT :limit

-- name: checkpoints
SELECT c.job_id, c.name, c.stream_id, s.name AS stream, c.after_checkpoint, c.mode, c.since,
    c.pages, c.added, c.changed, c.unchanged, c.repeated, c.total, c.started_at, c.completed_at,
    c.proof, c.evidence
FROM checkpoints AS c JOIN streams AS s ON s.id = c.stream_id
WHERE c.job_id = :job_id ORDER BY c.stream_id, c.name

-- name: page_results
SELECT id, key, result FROM items INDEXED BY items_in_order
WHERE job_id = :job_id AND id > :after AND checkpoint = :checkpoint AND status = 'DONE'
ORDER BY id LIMIT :limit

-- name: mirror_rows
SELECT h.number, h.id, h.hash, h.updated, h.parent, b.body, h.first_pass, h.seen_pass, h.first_at,
    h.changed_at,
    CASE
        WHEN h.deleted THEN h.changed_at
        WHEN h.seen_pass < s.full_pass THEN (
            SELECT c.completed_at FROM checkpoints AS c INDEXED BY checkpoints_that_delete
            WHERE c.stream_id = s.id AND c.job_id > h.seen_pass AND c.deletes = 1
            ORDER BY c.job_id LIMIT 1
        )
    END AS deleted_at
FROM streams AS s CROSS JOIN mirror_rows AS h INDEXED BY mirror_rows_in_order
CROSS JOIN mirror_bodies AS b
WHERE s.id = :stream_id AND h.stream_id = :stream_id AND h.number > :after AND b.number = h.number
AND (:deleted OR (NOT h.deleted AND h.seen_pass >= s.full_pass))
ORDER BY h.number LIMIT :limit

-- name: mirror_row
SELECT h.number, h.id, h.hash, h.updated, h.parent, b.body, h.first_pass, h.seen_pass, h.first_at,
    h.changed_at,
    CASE
        WHEN h.deleted THEN h.changed_at
        WHEN h.seen_pass < s.full_pass THEN (
            SELECT c.completed_at FROM checkpoints AS c INDEXED BY checkpoints_that_delete
            WHERE c.stream_id = s.id AND c.job_id > h.seen_pass AND c.deletes = 1
            ORDER BY c.job_id LIMIT 1
        )
    END AS deleted_at
FROM streams AS s CROSS JOIN mirror_rows AS h INDEXED BY mirror_rows_by_id
CROSS JOIN mirror_bodies AS b
WHERE s.id = :stream_id AND h.stream_id = s.id AND h.id = :row_id AND b.number = h.number

-- name: row_changes
SELECT c.id, c.number, h.id, c.pass_id, c.kind, c.before, c.at
FROM row_changes AS c INDEXED BY row_changes_by_stream CROSS JOIN mirror_rows AS h
WHERE c.stream_id = :stream_id AND c.id > :after AND h.number = c.number
ORDER BY c.id LIMIT :limit

-- name: changes_of_row
SELECT c.id, c.number, h.id, c.pass_id, c.kind, c.before, c.at
FROM row_changes AS c INDEXED BY row_changes_by_row CROSS JOIN mirror_rows AS h
WHERE c.number = :number AND h.number = c.number ORDER BY c.id

-- name: diff_rows
SELECT number, id, body, first_pass, deleted, absent_pass FROM (
    SELECT h.number, h.id, b.body, h.first_pass, h.deleted,
        CASE WHEN h.seen_pass < s.full_pass THEN (
            SELECT c.job_id FROM checkpoints AS c INDEXED BY checkpoints_that_delete
            WHERE c.stream_id = s.id AND c.job_id > h.seen_pass AND c.deletes = 1
            ORDER BY c.job_id LIMIT 1
        ) END AS absent_pass
    FROM streams AS s CROSS JOIN mirror_rows AS h INDEXED BY mirror_rows_in_order
    CROSS JOIN mirror_bodies AS b
    WHERE s.id = :stream_id AND h.stream_id = s.id AND h.number > :after AND b.number = h.number
    AND h.first_pass <= :newer
) AS diff
WHERE first_pass > :older OR (absent_pass > :older AND absent_pass <= :newer) OR EXISTS (
    SELECT 1 FROM row_changes AS c INDEXED BY row_changes_by_row
    WHERE c.number = diff.number AND c.pass_id > :older AND c.pass_id <= :newer
)
ORDER BY number LIMIT :limit

-- name: diff_log
SELECT c.number, c.pass_id, c.kind, c.before
FROM json_each(:numbers) AS given CROSS JOIN row_changes AS c INDEXED BY row_changes_by_row
WHERE c.number = given.value AND c.pass_id > :older
ORDER BY c.number, c.id

-- name: stream_fields
SELECT stream_id, name, types, first_pass FROM stream_fields
WHERE stream_id IN (SELECT value FROM json_each(:streams)) ORDER BY stream_id, ordinal, name

-- name: forget_changes
DELETE FROM row_changes WHERE id IN (
    SELECT c.id FROM streams AS s CROSS JOIN row_changes AS c INDEXED BY row_changes_by_stream
    WHERE s.mirror_id = :mirror_id AND c.stream_id = s.id LIMIT :limit
)

-- name: rows_to_forget
SELECT h.number FROM streams AS s CROSS JOIN mirror_rows AS h INDEXED BY mirror_rows_in_order
WHERE s.mirror_id = :mirror_id AND h.stream_id = s.id LIMIT :limit

-- name: forget_bodies
DELETE FROM mirror_bodies WHERE number IN (SELECT value FROM json_each(:numbers))

-- name: forget_rows
DELETE FROM mirror_rows WHERE number IN (SELECT value FROM json_each(:numbers))

-- name: forget_fields
DELETE FROM stream_fields
WHERE stream_id IN (SELECT id FROM streams WHERE mirror_id = :mirror_id)

-- name: forget_checkpoints
DELETE FROM checkpoints WHERE mirror_id = :mirror_id

-- name: forget_passes
UPDATE jobs SET mirror_id = NULL WHERE mirror_id = :mirror_id

-- name: forget_streams
DELETE FROM streams WHERE mirror_id = :mirror_id

-- name: forget_mirror
DELETE FROM mirrors WHERE id = :mirror_id

-- name: delete_checkpoints
DELETE FROM checkpoints WHERE job_id = :job_id AND completed_at IS NULL

-- name: mirrors_of_jobs
SELECT DISTINCT mirror_id FROM jobs
WHERE id IN (SELECT value FROM json_each(:jobs)) AND mirror_id IS NOT NULL ORDER BY mirror_id

-- name: attached_items
SELECT i.id, i.checkpoint FROM jsonb_each(:rows) CROSS JOIN items AS i
WHERE i.id = value ->> 0 AND +i.status = 'PROCESSING' AND +i.epoch = value ->> 2
AND +i.worker = :worker

-- name: streams_of_passes
SELECT j.id, s.name, s.id, s.full_pass
FROM jobs AS j CROSS JOIN streams AS s
WHERE j.id IN (SELECT value FROM json_each(:jobs)) AND s.mirror_id = j.mirror_id

-- name: checkpoints_of_passes
SELECT job_id, name, stream_id FROM checkpoints
WHERE job_id IN (SELECT value FROM json_each(:jobs)) ORDER BY job_id, name

-- name: known_heads
SELECT row.key, h.number, h.hash, h.seen_pass, h.deleted
FROM jsonb_each(:rows) AS row CROSS JOIN mirror_rows AS h INDEXED BY mirror_rows_by_id
WHERE h.stream_id = value ->> 0 AND h.id = value ->> 1

-- name: new_row_numbers
-- The writer is alone, so the numbers stay free until they are used.
WITH RECURSIVE newest AS (
    SELECT coalesce(max(seq), 0) AS n FROM sqlite_sequence WHERE name = 'mirror_rows'
), counted (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM counted WHERE i < :count)
SELECT newest.n + counted.i FROM newest CROSS JOIN counted

-- name: insert_heads
INSERT INTO mirror_rows (
    number, stream_id, id, hash, updated, parent, deleted, first_pass, seen_pass, first_at,
    changed_at
)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
    value ->> 7, value ->> 7, :now, :now
FROM jsonb_each(:rows)

-- name: insert_bodies
INSERT INTO mirror_bodies (number, body) SELECT value ->> 0, value -> 1 FROM jsonb_each(:rows)

-- name: see_rows
UPDATE mirror_rows SET seen_pass = :pass_id
WHERE number IN (SELECT value FROM json_each(:numbers)) AND seen_pass < :pass_id

-- name: log_absences
-- A row that is seen again was deleted by the first full pass that did not see it. Without this
-- entry, nothing would tell since when.
INSERT INTO row_changes (stream_id, number, pass_id, kind, before, at)
SELECT h.stream_id, h.number, c.job_id, 'deleted', CASE WHEN m.history THEN b.body END,
    c.completed_at
FROM json_each(:numbers) AS given CROSS JOIN mirror_rows AS h CROSS JOIN mirror_bodies AS b
CROSS JOIN streams AS s CROSS JOIN mirrors AS m CROSS JOIN checkpoints AS c
WHERE h.number = given.value AND NOT h.deleted AND b.number = h.number AND s.id = h.stream_id
AND m.id = s.mirror_id AND c.stream_id = s.id AND c.job_id = (
    SELECT p.job_id FROM checkpoints AS p INDEXED BY checkpoints_that_delete
    WHERE p.stream_id = s.id AND p.job_id > h.seen_pass AND p.deletes = 1
    ORDER BY p.job_id LIMIT 1
)
AND c.deletes = 1

-- name: insert_changes
INSERT INTO row_changes (stream_id, number, pass_id, kind, before, at)
SELECT value ->> 1, value ->> 0, value ->> 2, value ->> 3,
    (
        SELECT b.body FROM streams AS s JOIN mirrors AS m ON m.id = s.mirror_id
        CROSS JOIN mirror_bodies AS b
        WHERE s.id = value ->> 1 AND m.history AND b.number = value ->> 0
    ),
    :now
FROM jsonb_each(:rows)

-- name: change_heads
UPDATE mirror_rows SET
    hash = value ->> 1, updated = value ->> 2, parent = value ->> 3, deleted = value ->> 4,
    seen_pass = value ->> 5, changed_at = :now
FROM jsonb_each(:rows)
WHERE mirror_rows.number = value ->> 0

-- name: flag_heads
UPDATE mirror_rows SET deleted = value ->> 1, seen_pass = value ->> 2, changed_at = :now
FROM jsonb_each(:rows)
WHERE mirror_rows.number = value ->> 0

-- name: change_bodies
UPDATE mirror_bodies SET body = value -> 1 FROM jsonb_each(:rows)
WHERE mirror_bodies.number = value ->> 0

-- name: put_fields
INSERT INTO stream_fields (stream_id, name, types, ordinal, first_pass)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4
FROM jsonb_each(:rows) WHERE TRUE
ON CONFLICT (stream_id, name) DO UPDATE SET types = types | excluded.types

-- name: spawn_items
INSERT INTO items (
    job_id, key, input, checkpoint, gate, line, summary, status, updated_at, owner, handler,
    ingest_run
)
SELECT j.id, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
    'PENDING', :now, j.owner, j.handler, j.ingest_run
FROM jsonb_each(:rows) CROSS JOIN jobs AS j WHERE j.id = value ->> 0
ON CONFLICT (job_id, key) DO NOTHING
RETURNING job_id

-- name: count_pages
UPDATE checkpoints SET
    pages = pages + (value ->> 2), added = added + (value ->> 3),
    changed = changed + (value ->> 4), unchanged = unchanged + (value ->> 5),
    repeated = repeated + (value ->> 6), total = coalesce(value ->> 7, total)
FROM jsonb_each(:rows)
WHERE checkpoints.job_id = value ->> 0 AND checkpoints.name = value ->> 1

-- name: close_checkpoint
UPDATE checkpoints SET completed_at = :now, proof = :proof, evidence = :evidence
WHERE job_id = :job_id AND name = :name AND completed_at IS NULL
AND NOT EXISTS (
    SELECT 1 FROM items AS i INDEXED BY items_by_checkpoint
    WHERE i.job_id = :job_id AND i.checkpoint = :name AND i.checkpoint != '' AND i.status != 'DONE'
    AND i.status IN ('PENDING', 'PROCESSING', 'REVIEW', 'ERROR', 'CANCELLED')
)
AND (
    after_checkpoint = '' OR EXISTS (
        SELECT 1 FROM checkpoints AS parent
        WHERE parent.job_id = checkpoints.job_id AND parent.name = checkpoints.after_checkpoint
        AND parent.completed_at IS NOT NULL
    )
)
RETURNING *

-- name: checkpoint
SELECT * FROM checkpoints WHERE job_id = :job_id AND name = :name

-- name: stream
SELECT * FROM streams WHERE id = :stream_id

-- name: move_watermark
UPDATE streams SET watermark = :watermark, watermark_pass = :job_id
WHERE id = :stream_id AND watermark_pass <= :job_id

-- name: move_full_pass
UPDATE streams SET full_pass = :job_id WHERE id = :stream_id AND full_pass < :job_id
RETURNING id

-- name: mark_deletes
UPDATE checkpoints SET deletes = 1 WHERE job_id = :job_id AND name = :name

-- name: count_live
UPDATE streams SET live = (
    SELECT count(*) FROM mirror_rows AS h
    WHERE h.stream_id = streams.id AND NOT h.deleted AND h.seen_pass >= streams.full_pass
)
WHERE id = :stream_id

-- name: checkpoints_after
SELECT name FROM checkpoints
WHERE job_id = :job_id AND after_checkpoint = :name ORDER BY name

-- name: ready_to_close
SELECT c.job_id, c.name, c.closings + 1, c.closing
FROM jsonb_each(:rows) AS touched CROSS JOIN checkpoints AS c
WHERE c.job_id = touched.value ->> 0 AND c.name = touched.value ->> 1 AND c.completed_at IS NULL
AND NOT EXISTS (
    SELECT 1 FROM items AS i INDEXED BY items_by_checkpoint
    WHERE i.job_id = c.job_id AND i.checkpoint = c.name AND i.checkpoint != ''
    AND i.status != 'DONE'
    AND i.status IN ('PENDING', 'PROCESSING', 'REVIEW', 'ERROR', 'CANCELLED')
)
AND (
    c.after_checkpoint = '' OR EXISTS (
        SELECT 1 FROM checkpoints AS parent
        WHERE parent.job_id = c.job_id AND parent.name = c.after_checkpoint
        AND parent.completed_at IS NOT NULL
    )
)
AND NOT EXISTS (
    SELECT 1 FROM items AS last INDEXED BY items_by_key
    WHERE last.job_id = c.job_id AND last.key = c.name || '/closing/' || c.closings
    AND last.status NOT IN ('DONE', 'NOT_FOUND', 'SKIPPED')
)

-- name: count_closings
UPDATE checkpoints SET closings = closings + 1 FROM jsonb_each(:rows)
WHERE checkpoints.job_id = value ->> 0 AND checkpoints.name = value ->> 1

-- name: never_closed
SELECT name FROM checkpoints
WHERE job_id = :job_id AND completed_at IS NULL AND closings = 0 ORDER BY name
