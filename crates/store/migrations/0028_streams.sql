-- Streams of web pages to voice channels, with everything that survives a restart.
CREATE TABLE streams (
    -- Chosen by the bot that asked.
    id UUID PRIMARY KEY,
    -- The request as JSON, as it came.
    request TEXT NOT NULL,
    state TEXT NOT NULL,
    -- The session whose computer shows the page. It may have been deleted since.
    session_id UUID,
    -- The link by which people watch. Its token is not stored.
    watch_link_id UUID,
    error_code TEXT,
    error_message TEXT,
    -- The answers of models, and their price in billionths of a US dollar.
    n_steps BIGINT NOT NULL,
    cost_nanousd BIGINT NOT NULL,
    created_at_ms BIGINT NOT NULL,
    -- The time at which people could watch.
    started_at_ms BIGINT,
    ended_at_ms BIGINT
);

CREATE INDEX streams_open ON streams (created_at_ms) WHERE ended_at_ms IS NULL;
