-- How many items a worker's claims ask for at present, as its last heartbeat told.
ALTER TABLE workers ADD COLUMN claim_size integer NOT NULL DEFAULT 0;
