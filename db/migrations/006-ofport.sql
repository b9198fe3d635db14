-- SPDX-License-Identifier: Apache-2.0
--
-- Version 6: numbers of ports in OpenFlow, and bridges' own ports.  Ports that
-- are there are numbered in the order in which they were added.

ALTER TABLE bridge ADD COLUMN local INTEGER NOT NULL DEFAULT 1
    CHECK (local IN (0, 1));
ALTER TABLE port ADD COLUMN ofport INTEGER NOT NULL DEFAULT 0
    CHECK (ofport >= 0);
UPDATE port SET ofport = slot + 1;
