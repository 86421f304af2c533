-- The arrangement of a user's session page, as JSON that only the page understands. Null if they have none.
ALTER TABLE users ADD COLUMN layout TEXT;
