-- Who has mouse and keyboard of a session's computer, and until when. Nobody without a user.

ALTER TABLE sessions ADD COLUMN lease_user_id UUID;
ALTER TABLE sessions ADD COLUMN lease_until_ms BIGINT;
