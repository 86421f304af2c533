-- The network policy of a session as JSON. Earlier sessions have none: their network is closed.
ALTER TABLE sessions ADD COLUMN network TEXT;

-- Hosts that every session of the user may contact, as JSON: a list of rules.
ALTER TABLE users ADD COLUMN network_allow TEXT;

-- The hosts that programs in a session's computer have contacted, or tried to.
CREATE TABLE network_destinations (
    session_id UUID NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    -- A name or an address. `*` stands for all hosts beyond the number that is kept.
    host TEXT NOT NULL,
    port BIGINT NOT NULL,
    n_connections BIGINT NOT NULL,
    n_blocked BIGINT NOT NULL,
    sent_bytes BIGINT NOT NULL,
    received_bytes BIGINT NOT NULL,
    -- The reason if the newest connection was blocked.
    blocked TEXT,
    first_at_ms BIGINT NOT NULL,
    last_at_ms BIGINT NOT NULL,
    PRIMARY KEY (session_id, host, port)
);
