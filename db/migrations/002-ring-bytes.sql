-- SPDX-License-Identifier: Apache-2.0
--
-- Version 2: the size of a port's receive ring.

ALTER TABLE port ADD COLUMN ring_bytes INTEGER NOT NULL DEFAULT 0
    CHECK (ring_bytes >= 0);
