-- People, sessions, messages and the event log.
--
-- Times are milliseconds since 1970 and JSON is text: both databases keep them alike, and an
-- event's data goes out as it came in.

CREATE TABLE users (
    id UUID PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    -- `admin` or `member`.
    role TEXT NOT NULL,
    created_at_ms BIGINT NOT NULL
);

-- API tokens. Only the SHA-256 is kept.
CREATE TABLE tokens (
    hash TEXT PRIMARY KEY,
    user_id UUID NOT NULL REFERENCES users (id),
    created_at_ms BIGINT NOT NULL
);

-- Codes of sign-in links, good once. Only the SHA-256 is kept.
CREATE TABLE sign_in_codes (
    hash TEXT PRIMARY KEY,
    user_id UUID NOT NULL REFERENCES users (id),
    expires_at_ms BIGINT NOT NULL
);

-- Browsers that are signed in, by the SHA-256 of their cookie.
CREATE TABLE logins (
    hash TEXT PRIMARY KEY,
    user_id UUID NOT NULL REFERENCES users (id),
    expires_at_ms BIGINT NOT NULL
);

CREATE TABLE sessions (
    id UUID PRIMARY KEY,
    owner_id UUID NOT NULL REFERENCES users (id),
    title TEXT NOT NULL,
    model TEXT NOT NULL,
    metadata TEXT NOT NULL,
    phase TEXT NOT NULL,
    sandbox TEXT NOT NULL,
    -- The turn that is being worked on, if one is.
    turn_id UUID,
    last_seq BIGINT NOT NULL,
    created_at_ms BIGINT NOT NULL,
    updated_at_ms BIGINT NOT NULL
);

-- The list of sessions: newest first, of one owner.
CREATE INDEX sessions_by_owner ON sessions (owner_id, id);

CREATE TABLE messages (
    id UUID PRIMARY KEY,
    session_id UUID NOT NULL REFERENCES sessions (id),
    -- The number of the event that tells of it: its place in the conversation.
    seq BIGINT NOT NULL,
    role TEXT NOT NULL,
    content TEXT NOT NULL,
    author_id UUID,
    created_at_ms BIGINT NOT NULL,
    -- When a turn took it up. A prompt without it is waiting.
    taken_at_ms BIGINT
);

-- The conversation in order.
CREATE INDEX messages_by_session ON messages (session_id, seq);

-- The queue.
CREATE INDEX messages_waiting ON messages (session_id, seq) WHERE taken_at_ms IS NULL AND role = 'user';

CREATE TABLE events (
    session_id UUID NOT NULL REFERENCES sessions (id),
    seq BIGINT NOT NULL,
    version BIGINT NOT NULL,
    kind TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (session_id, seq)
);

-- Which session shows which blob: the right to see a blob follows from the session's.
CREATE TABLE session_blobs (
    blob TEXT NOT NULL,
    session_id UUID NOT NULL REFERENCES sessions (id),
    PRIMARY KEY (blob, session_id)
);
