-- Which model works on a message, when it is not the session's.
ALTER TABLE messages ADD COLUMN model TEXT;

-- What a session's agent is told besides what every agent is told.
ALTER TABLE sessions ADD COLUMN instructions TEXT NOT NULL DEFAULT '';
