-- The effort of a session's models, and of a message's. Null if the session's, or the server's, counts.
ALTER TABLE sessions ADD COLUMN effort TEXT;
ALTER TABLE messages ADD COLUMN effort TEXT;

-- The time since which a waiting message is held, because a person stopped the agent. Null if the agent may take it.
ALTER TABLE messages ADD COLUMN held_at_ms BIGINT;
