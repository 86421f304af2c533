-- How much of the server somebody may use, where an administrator has decided. Null: the settings hold.
CREATE TABLE user_limits (
    user_id UUID PRIMARY KEY REFERENCES users (id),
    awake_sessions BIGINT,
    sessions_per_day BIGINT,
    idle_seconds BIGINT,
    life_seconds BIGINT
);

-- How many sessions somebody made lately.
CREATE INDEX sessions_by_creation ON sessions (owner_id, created_at_ms);
