-- The last person who wrote the instructions of a session: secrets are typed unasked only while it is the owner. Null if
-- it is not known, in sessions of earlier versions whose settings or owner have changed.
ALTER TABLE sessions ADD COLUMN instructions_by UUID;

UPDATE sessions SET instructions_by = owner_id WHERE NOT EXISTS (
    SELECT 1 FROM events e WHERE e.session_id = sessions.id AND e.kind IN ('changed', 'handed_over')
);
