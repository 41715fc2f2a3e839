-- A pause that ends by itself, and why it was made.
ALTER TABLE jobs ADD COLUMN pause_reason text;
ALTER TABLE jobs ADD COLUMN resume_at bigint CHECK (resume_at IS NULL OR state = 'PAUSED');
