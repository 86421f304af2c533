-- The context that a secret is sealed with. Since version 2 it includes the origins.
ALTER TABLE secrets ADD COLUMN seal_version BIGINT NOT NULL DEFAULT 1;

-- Values of secrets that were sent into a session's computer and replaced or removed since. They may still turn up
-- there, until the session ends.
CREATE TABLE former_secrets (
    id UUID PRIMARY KEY,
    session_id UUID NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    user_id UUID NOT NULL,
    name TEXT NOT NULL,
    key_id TEXT NOT NULL,
    sealed BYTEA NOT NULL,
    origins TEXT NOT NULL,
    seal_version BIGINT NOT NULL
);

CREATE INDEX former_secrets_by_session ON former_secrets (session_id);
