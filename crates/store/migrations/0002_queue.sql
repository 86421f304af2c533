-- How messages that wait are delivered, and in which order.

ALTER TABLE messages ADD COLUMN delivery TEXT NOT NULL DEFAULT 'queue';

-- The place among those that wait. Places are only compared with each other.
ALTER TABLE messages ADD COLUMN place BIGINT NOT NULL DEFAULT 0;
UPDATE messages SET place = seq;

-- When somebody took it out of the queue.
ALTER TABLE messages ADD COLUMN removed_at_ms BIGINT;

DROP INDEX messages_waiting;
CREATE INDEX messages_waiting ON messages (session_id, place)
    WHERE taken_at_ms IS NULL AND removed_at_ms IS NULL AND role = 'user';
