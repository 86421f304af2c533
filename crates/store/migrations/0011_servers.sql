-- The server that works on a session or runs its sandbox. Null when no server does.
ALTER TABLE sessions ADD COLUMN server_id UUID;
-- Grows whenever another server takes the session, so that a server that lost it can be told apart from its successor.
ALTER TABLE sessions ADD COLUMN server_epoch BIGINT;
-- After this time the server counts as dead unless it has renewed it.
ALTER TABLE sessions ADD COLUMN server_expires_at_ms BIGINT;

CREATE INDEX sessions_by_server ON sessions (server_id) WHERE server_id IS NOT NULL;

-- The server that uses this database, for the message to another one that tries to. The lock itself is outside of the tables.
CREATE TABLE servers (
    id UUID PRIMARY KEY,
    host TEXT NOT NULL,
    pid BIGINT NOT NULL,
    data_dir TEXT NOT NULL,
    started_at_ms BIGINT NOT NULL,
    seen_at_ms BIGINT NOT NULL
);
