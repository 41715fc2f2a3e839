-- The options that decide what the rows of a job are and what comes of them, as its command had
-- them. NULL: the job was made before they were stored, or by the server (see `reading`).
ALTER TABLE jobs ADD COLUMN options text;
