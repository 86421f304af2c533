-- The page that the browser opens before the agent reads a message. Null if there is none.
ALTER TABLE messages ADD COLUMN start_url TEXT;
