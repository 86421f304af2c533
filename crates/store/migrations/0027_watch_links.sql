-- Links by which everybody can watch the screen of a session without signing in. Only the SHA-256 of the token is kept.
CREATE TABLE watch_links (
    id UUID PRIMARY KEY,
    session_id UUID NOT NULL REFERENCES sessions (id),
    hash TEXT NOT NULL UNIQUE,
    created_at_ms BIGINT NOT NULL,
    expires_at_ms BIGINT NOT NULL
);

CREATE INDEX watch_links_by_session ON watch_links (session_id, id);
