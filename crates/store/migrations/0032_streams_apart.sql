-- False for a session that does not count for the daily limit of its owner, because it shows a stream.
ALTER TABLE sessions ADD COLUMN is_counted BOOLEAN NOT NULL DEFAULT TRUE;

-- Finds the newest streams.
CREATE INDEX streams_newest ON streams (created_at_ms, id);
