-- A tier's weight: how many commands its tenants run per turn, and their part of the queue while it is contended.
-- Whole, 1 to 1000. It matters only between tenants that wait at the same time; alone, anyone has the whole engine.
--
-- free and anonymous 1, the unit. standard 2 and premium 10, against free: standard follows the rates of the first
-- migration (50, 100), premium only half of them (1000 would be 20), because a turn of 20 is what everybody else waits
-- for, and because its rate already lets it send 20 times as much while there is room.
ALTER TABLE tiers ADD COLUMN weight INTEGER NOT NULL DEFAULT 1 CHECK (weight BETWEEN 1 AND 1000);
UPDATE tiers SET weight = 2 WHERE name = 'standard';
UPDATE tiers SET weight = 10 WHERE name = 'premium';
