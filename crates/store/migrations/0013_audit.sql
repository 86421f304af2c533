-- Changes to accounts, rights, tokens, secrets, policies and limits. Rows are only ever added, and refer to nothing,
-- so that they outlive what they tell of.
CREATE TABLE audit (
    id UUID PRIMARY KEY,
    at_ms BIGINT NOT NULL,
    action TEXT NOT NULL,
    -- The part of the action before its dot.
    subject TEXT NOT NULL,
    -- Null when the server itself made the change.
    actor_id UUID,
    actor_name TEXT,
    -- The token that the request came with.
    token_name TEXT,
    -- The user whose account or right changed.
    user_id UUID,
    user_name TEXT,
    session_id UUID,
    address TEXT,
    -- A JSON object.
    details TEXT NOT NULL
);

CREATE INDEX audit_by_actor ON audit (actor_id, id);
CREATE INDEX audit_by_user ON audit (user_id, id);

-- Where and when browsers were signed in. Earlier ones were for thirty days.
ALTER TABLE logins ADD COLUMN created_at_ms BIGINT;
ALTER TABLE logins ADD COLUMN last_used_at_ms BIGINT;
ALTER TABLE logins ADD COLUMN address TEXT;
-- The name that the browser gives itself.
ALTER TABLE logins ADD COLUMN browser TEXT;

UPDATE logins SET created_at_ms = expires_at_ms - 2592000000;

CREATE INDEX logins_by_user ON logins (user_id);

-- The first sign-in. Null for users who never signed in. It is not known of users of earlier versions, who count as
-- signed in.
ALTER TABLE users ADD COLUMN signed_in_at_ms BIGINT;

UPDATE users SET signed_in_at_ms = created_at_ms;
