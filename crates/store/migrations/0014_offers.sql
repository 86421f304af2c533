-- Sessions whose owner wants to hand them over. The other has to accept.
CREATE TABLE session_offers (
    session_id UUID PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    from_id UUID NOT NULL REFERENCES users (id),
    to_id UUID NOT NULL REFERENCES users (id),
    created_at_ms BIGINT NOT NULL,
    expires_at_ms BIGINT NOT NULL
);

CREATE INDEX session_offers_by_recipient ON session_offers (to_id, session_id);

-- True when the owner gave the right to this person. No link overrides it.
ALTER TABLE session_rights ADD COLUMN is_by_owner BOOLEAN NOT NULL DEFAULT FALSE;

-- People who had a right in a session and have none now.
CREATE TABLE session_departures (
    session_id UUID NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    user_id UUID NOT NULL REFERENCES users (id),
    -- `removed` by the owner, who alone can let them in again, or `left`, when only they themselves can come back.
    how TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (session_id, user_id)
);

-- The turn that took the message, and the last person who changed its text while it waited: secrets are typed for
-- messages of the session's owner.
ALTER TABLE messages ADD COLUMN turn_id UUID;
ALTER TABLE messages ADD COLUMN edited_by UUID;

-- True when the link ends with its first use.
ALTER TABLE shares ADD COLUMN is_single_use BOOLEAN NOT NULL DEFAULT FALSE;
