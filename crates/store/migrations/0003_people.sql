-- Who may do what: users that can be disabled, tokens with a name, a scope and an end, and rights in
-- sessions.

ALTER TABLE users ADD COLUMN active BOOLEAN NOT NULL DEFAULT TRUE;

-- No two names differ only in case.
CREATE UNIQUE INDEX users_by_name ON users (lower(name));

-- API tokens. Only the SHA-256 is kept.
CREATE TABLE api_tokens (
    id UUID PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    user_id UUID NOT NULL REFERENCES users (id),
    name TEXT NOT NULL,
    -- How the token begins.
    prefix TEXT NOT NULL,
    -- `read`, `write` or `admin`.
    scope TEXT NOT NULL,
    created_at_ms BIGINT NOT NULL,
    -- Never without it.
    expires_at_ms BIGINT,
    -- To the minute.
    last_used_at_ms BIGINT
);

CREATE INDEX api_tokens_by_user ON api_tokens (user_id, id);

-- The newest token of each user goes on, under the user's own id. Until now tokens were only
-- made for the file `admin-token`, and an older one is made only when that file was lost.
INSERT INTO api_tokens (id, hash, user_id, name, prefix, scope, created_at_ms)
SELECT t.user_id, t.hash, t.user_id, 'admin-token', '', 'admin', t.created_at_ms
FROM tokens t
WHERE NOT EXISTS (
    SELECT 1 FROM tokens newer
    WHERE newer.user_id = t.user_id
      AND (newer.created_at_ms, newer.hash) > (t.created_at_ms, t.hash)
);

DROP TABLE tokens;

-- What people may do in sessions of others. The owner has no row here.
CREATE TABLE session_rights (
    session_id UUID NOT NULL REFERENCES sessions (id),
    user_id UUID NOT NULL REFERENCES users (id),
    -- `view`, `suggest` or `drive`.
    right_name TEXT NOT NULL,
    created_at_ms BIGINT NOT NULL,
    PRIMARY KEY (session_id, user_id)
);

CREATE INDEX session_rights_by_user ON session_rights (user_id, session_id);

-- Links that let people into a session. Only the SHA-256 of the code is kept.
CREATE TABLE shares (
    id UUID PRIMARY KEY,
    session_id UUID NOT NULL REFERENCES sessions (id),
    hash TEXT NOT NULL UNIQUE,
    -- `view`, `suggest` or `drive`.
    right_name TEXT NOT NULL,
    created_at_ms BIGINT NOT NULL,
    expires_at_ms BIGINT NOT NULL
);

CREATE INDEX shares_by_session ON shares (session_id, id);
