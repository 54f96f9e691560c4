-- Whether isolates may lease tokens of a tier's tenants ("leased"), or ask the tenant's object for each request that may
-- be admitted ("exact"): for tiers whose limit must not be passed by what is leased at the moment.
ALTER TABLE tiers ADD COLUMN limiter_mode TEXT NOT NULL DEFAULT 'leased' CHECK (limiter_mode IN ('leased', 'exact'));
