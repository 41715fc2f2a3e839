-- What became of an item may be told at every end, not only where there was success.

ALTER TABLE items
DROP CONSTRAINT items_check4,
ADD CONSTRAINT items_end CHECK (status NOT IN ('DONE', 'REVIEW') OR result IS NOT NULL),
ADD CONSTRAINT items_open CHECK (
    status NOT IN ('PENDING', 'PROCESSING', 'CANCELLED') OR result IS NULL
);
