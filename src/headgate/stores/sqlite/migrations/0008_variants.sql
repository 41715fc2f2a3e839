-- A failure as it is told apart from others of its signature: with what it quotes. Failures of before
-- have none, and stay in the groups that they were in.
ALTER TABLE items ADD COLUMN variant TEXT CHECK (variant IS NULL OR signature IS NOT NULL);
DROP INDEX items_by_signature;
CREATE INDEX items_by_signature ON items (job_id, signature, id, variant) WHERE status = 'ERROR';
