-- The system text and the tools of the session's first turn, as JSON: later changes are told in the conversation.
ALTER TABLE sessions ADD COLUMN briefing TEXT;
