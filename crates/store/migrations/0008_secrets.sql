-- Secrets that agents may type and never see. Values are encrypted with a key that is not in the database.
CREATE TABLE secrets (
    id UUID PRIMARY KEY,
    user_id UUID NOT NULL REFERENCES users (id),
    name TEXT NOT NULL,
    -- Which key it takes to read it.
    key_id TEXT NOT NULL,
    -- The nonce and, behind it, the encrypted value.
    sealed BYTEA NOT NULL,
    -- Where it may be typed: a JSON list.
    origins TEXT NOT NULL,
    created_at_ms BIGINT NOT NULL,
    updated_at_ms BIGINT NOT NULL,
    last_used_at_ms BIGINT,
    last_used_in UUID REFERENCES sessions (id)
);

CREATE UNIQUE INDEX secrets_by_name ON secrets (user_id, name);

-- Which secrets were sent into which session's computer, and so may turn up on its screen.
CREATE TABLE secret_uses (
    session_id UUID NOT NULL REFERENCES sessions (id),
    secret_id UUID NOT NULL REFERENCES secrets (id),
    PRIMARY KEY (session_id, secret_id)
);

CREATE INDEX secret_uses_by_secret ON secret_uses (secret_id);
