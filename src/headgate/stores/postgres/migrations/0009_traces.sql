-- Where in the user's code an attempt failed, as JSON; NULL for all others.
ALTER TABLE attempts ADD COLUMN trace text;

-- Why a person decided as they did.
ALTER TABLE decisions ADD COLUMN reason text NOT NULL DEFAULT '';
