-- The kind of a session's computer.
ALTER TABLE sessions ADD COLUMN computer TEXT NOT NULL DEFAULT 'desktop';

-- The tools by which its models drive the computer, as JSON: a list. Null in sessions of earlier versions: all of them.
ALTER TABLE sessions ADD COLUMN tools TEXT;
