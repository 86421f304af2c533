-- What people are asked, and what the agent must ask before it does it.

CREATE TABLE decisions (
    id UUID PRIMARY KEY,
    session_id UUID NOT NULL REFERENCES sessions (id),
    turn_id UUID NOT NULL,
    -- `question`, `approval`, `safety_check` or `budget`.
    kind TEXT NOT NULL,
    -- All of what is asked, as JSON.
    ask TEXT NOT NULL,
    -- For ever without it.
    expires_at_ms BIGINT,
    created_at_ms BIGINT NOT NULL,
    -- `open`, `answered`, `expired` or `withdrawn`.
    state TEXT NOT NULL,
    -- What counts, as JSON.
    answer TEXT,
    answered_by UUID REFERENCES users (id),
    settled_at_ms BIGINT
);

CREATE INDEX decisions_by_session ON decisions (session_id, id);

-- The inbox, and what expires next.
CREATE INDEX decisions_open ON decisions (expires_at_ms, id) WHERE state = 'open';

-- Files that people gave as answers.
CREATE TABLE decision_files (
    decision_id UUID PRIMARY KEY REFERENCES decisions (id),
    name TEXT NOT NULL,
    bytes BYTEA NOT NULL
);

-- Approval policies as JSON: the session's own, and what a user's new sessions begin with.
ALTER TABLE sessions ADD COLUMN approvals TEXT NOT NULL DEFAULT '{"mode":"risky","rules":[]}';
ALTER TABLE users ADD COLUMN approvals TEXT NOT NULL DEFAULT '{"mode":"risky","rules":[]}';
