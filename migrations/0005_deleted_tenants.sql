-- Tenants that an operator has deleted. Tokens of an issuer go on naming them: without a row here such a token would make its
-- holder a tenant of the default tier. A PUT of the tenant takes the row away. One small row for each deletion, for good.
CREATE TABLE deleted_tenants (
  id TEXT PRIMARY KEY,
  deleted_at INTEGER NOT NULL
) WITHOUT ROWID;
