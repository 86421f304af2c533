-- The model's answers as its vendor gave them, for the same vendor: signatures of thinking and the like. Nobody else sees them.
CREATE TABLE answers (
    session_id UUID NOT NULL REFERENCES sessions (id),
    turn_id UUID NOT NULL,
    step BIGINT NOT NULL,
    vendor TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (session_id, turn_id, step)
);

-- What a session has cost so far, in billionths of a US dollar and in tokens.
ALTER TABLE sessions ADD COLUMN cost_nanousd BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN tokens BIGINT NOT NULL DEFAULT 0;
