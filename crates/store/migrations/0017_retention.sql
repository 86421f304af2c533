-- Sessions that were deleted with their logs. They still count for the daily limit of the user who owned them.
CREATE TABLE deleted_sessions (
    id UUID PRIMARY KEY,
    owner_id UUID NOT NULL REFERENCES users (id),
    created_at_ms BIGINT NOT NULL
);

CREATE INDEX deleted_sessions_by_creation ON deleted_sessions (owner_id, created_at_ms);

-- The pictures of deleted sessions. Those that no other session shows are removed a little later.
CREATE TABLE blobs_to_remove (
    blob TEXT PRIMARY KEY
);
