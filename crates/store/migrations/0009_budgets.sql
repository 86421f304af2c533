-- What a session may use, in billionths of a US dollar and in tokens, and what people gave in addition when they were asked.
-- Null: as much as it takes.
ALTER TABLE sessions ADD COLUMN budget_nanousd BIGINT;
ALTER TABLE sessions ADD COLUMN budget_tokens BIGINT;
ALTER TABLE sessions ADD COLUMN granted_nanousd BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN granted_tokens BIGINT NOT NULL DEFAULT 0;

-- What a user's sessions used on one day (`2026-11-16`, in UTC), and what an administrator gave in addition for it.
CREATE TABLE user_days (
    user_id UUID NOT NULL REFERENCES users (id),
    day TEXT NOT NULL,
    cost_nanousd BIGINT NOT NULL DEFAULT 0,
    tokens BIGINT NOT NULL DEFAULT 0,
    granted_nanousd BIGINT NOT NULL DEFAULT 0,
    granted_tokens BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, day)
);

-- What somebody's sessions may use in a day. 0: as much as it takes.
ALTER TABLE user_limits ADD COLUMN day_nanousd BIGINT;
ALTER TABLE user_limits ADD COLUMN day_tokens BIGINT;
