-- Where in the user's code an attempt failed, as JSON; NULL for all others.
ALTER TABLE attempts ADD COLUMN trace TEXT;

-- Why a person decided as they did.
ALTER TABLE decisions ADD COLUMN reason TEXT NOT NULL DEFAULT '';
