-- Who may send, how much, and who changed that. Forward only: a later change is a later file.

-- One counter orders every change of limits, whatever table it touches, so that an object that holds a tenant's
-- limits can tell the newer of two answers by one number.
CREATE TABLE limits_clock (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  version INTEGER NOT NULL
);
INSERT INTO limits_clock (id, version) VALUES (1, 1);

CREATE TABLE tiers (
  name TEXT PRIMARY KEY,
  policies TEXT NOT NULL,
  version INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);

CREATE TABLE tenants (
  id TEXT PRIMARY KEY,
  tier TEXT NOT NULL REFERENCES tiers (name),
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended')),
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);
-- Read when a tier changes (every tenant in it is told) and when one is deleted (refused while in use).
CREATE INDEX tenants_by_tier ON tenants (tier, id);

-- A tenant's own limits, in place of its tier's.
CREATE TABLE tenant_limits (
  tenant_id TEXT PRIMARY KEY REFERENCES tenants (id) ON DELETE CASCADE,
  requests_per_second REAL NOT NULL,
  burst_size INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);

-- Keys are random and shown once; what is stored is the SHA-256, in hex.
CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
  hash TEXT NOT NULL UNIQUE,
  name TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER
);
CREATE INDEX api_keys_by_tenant ON api_keys (tenant_id);

CREATE TABLE audit (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  target TEXT NOT NULL,
  detail TEXT NOT NULL
);

INSERT INTO tiers (name, policies, version, updated_at) VALUES
  ('free', '[{"name":"requests","type":"token-bucket","scope":"tenant","rate":{"tokens":50,"perSeconds":1},"burst":100}]', 1, 0),
  ('standard', '[{"name":"requests","type":"token-bucket","scope":"tenant","rate":{"tokens":100,"perSeconds":1},"burst":200}]', 1, 0),
  ('premium', '[{"name":"requests","type":"token-bucket","scope":"tenant","rate":{"tokens":1000,"perSeconds":1},"burst":2000}]', 1, 0),
  -- Callers that are nobody: what one address may try without a credential, or with a wrong one.
  ('anonymous', '[{"name":"requests","type":"token-bucket","scope":"tenant","rate":{"tokens":10,"perSeconds":1},"burst":20}]', 1, 0);
