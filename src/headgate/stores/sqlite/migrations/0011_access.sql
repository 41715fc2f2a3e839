-- How long access lasts. Until when a token holds that its server must renew; NULL: it need not be.
ALTER TABLE tokens ADD COLUMN until_at INTEGER;
CREATE INDEX tokens_by_opener ON tokens (opened_by) WHERE opened_by IS NOT NULL;
-- Tokens of servers that were killed never expired. Those of a server that is running end too.
UPDATE tokens SET until_at = created_at
WHERE kind = 'api' AND user_name = 'local' AND label = 'headgate serve' AND revoked_at IS NULL;

-- Tries of logins, counted before the password is checked; `full_at` is when all are allowed again.
CREATE TABLE login_tries (
    key TEXT NOT NULL PRIMARY KEY,
    full_at INTEGER NOT NULL,
    known_until INTEGER NOT NULL DEFAULT 0,
    over_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX login_tries_over ON login_tries (over_at);
