-- Ports of a session's sandbox that everybody in the session may use, and not only those who may drive.
CREATE TABLE shared_ports (
    session_id UUID NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    port BIGINT NOT NULL,
    PRIMARY KEY (session_id, port)
);
