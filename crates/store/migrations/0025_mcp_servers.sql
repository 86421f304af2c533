-- The MCP servers whose tools the agent of a session is offered: JSON.
ALTER TABLE sessions ADD COLUMN mcp_servers TEXT NOT NULL DEFAULT '[]';
