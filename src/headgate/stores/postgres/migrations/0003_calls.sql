-- What an attempt asked of the network, as one JSON array.
ALTER TABLE attempts ADD COLUMN calls text;

-- Only items that have a gate of their own: those of other jobs wait for the job's gate.
CREATE INDEX items_by_gate ON items (job_id, gate, due_at, id)
WHERE status = 'PENDING' AND NOT suspect AND gate != '';
