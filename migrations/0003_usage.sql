-- How much each tenant used, written by the tenants' objects in batches: at most one a minute while a tenant is active,
-- and one when it falls idle. Counts are of checks: admitted and refused by the tenant's own limits, and returned: of
-- the admitted, those whose charge was given back, because a later layer refused the request. Callers without a
-- credential are not here: their number is anybody's to choose.

-- Per minute since the epoch, kept for USAGE_KEEP_DAYS. Read by minute and tenant, and its busiest by the index.
CREATE TABLE usage_minutes (
  minute INTEGER NOT NULL,
  tenant TEXT NOT NULL,
  admitted INTEGER NOT NULL,
  refused INTEGER NOT NULL,
  returned INTEGER NOT NULL,
  PRIMARY KEY (minute, tenant)
) WITHOUT ROWID;
CREATE INDEX usage_minutes_by_checks ON usage_minutes (minute, admitted + refused);

-- All tenants together, per minute, so that a sum over a window reads no tenant.
CREATE TABLE usage_totals (
  minute INTEGER PRIMARY KEY,
  admitted INTEGER NOT NULL,
  refused INTEGER NOT NULL,
  returned INTEGER NOT NULL
);

-- What only ever grows, for counters: per tier, and per tenant. `life` and `flush` are the last batch of the tenant's
-- object that is in here: one that is repeated because nobody knows what became of it is not counted twice.
CREATE TABLE usage_tiers (
  tier TEXT PRIMARY KEY,
  admitted INTEGER NOT NULL,
  refused INTEGER NOT NULL,
  returned INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE usage_tenants (
  tenant TEXT PRIMARY KEY,
  tier TEXT NOT NULL,
  admitted INTEGER NOT NULL,
  refused INTEGER NOT NULL,
  returned INTEGER NOT NULL,
  life TEXT NOT NULL,
  flush INTEGER NOT NULL,
  last_minute INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX usage_tenants_by_checks ON usage_tenants (admitted + refused);
