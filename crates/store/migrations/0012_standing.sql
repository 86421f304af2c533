-- The data of the newest event of each kind that stands until the next one, by kind: a JSON object.
ALTER TABLE sessions ADD COLUMN standing TEXT;
