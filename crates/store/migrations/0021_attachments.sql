-- Files that people send along with messages. Their bytes are blobs.
CREATE TABLE attachments (
    id UUID PRIMARY KEY,
    session_id UUID NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    -- The user who uploaded it, and who alone can send it.
    user_id UUID NOT NULL,
    name TEXT NOT NULL,
    media_type TEXT NOT NULL,
    n_bytes BIGINT NOT NULL,
    blob TEXT NOT NULL,
    -- The message that it was sent with. Without one, it is removed after a day.
    message_id UUID,
    created_at_ms BIGINT NOT NULL
);

CREATE INDEX attachments_by_session ON attachments (session_id);

-- A blob is kept while an attachment has it.
CREATE INDEX attachments_by_blob ON attachments (blob);

CREATE INDEX attachments_unsent ON attachments (created_at_ms) WHERE message_id IS NULL;

-- The files of a message as JSON, as in its event. Without any, it is NULL.
ALTER TABLE messages ADD COLUMN attachments TEXT;
