-- The use of a secret in requests to HTTP APIs, as JSON: its headers, and the variable of its stand-in. Since version 3
-- the context that a secret is sealed with includes it.
ALTER TABLE secrets ADD COLUMN http TEXT;
ALTER TABLE former_secrets ADD COLUMN http TEXT;
