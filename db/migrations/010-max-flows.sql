-- SPDX-License-Identifier: Apache-2.0
--
-- Version 10: how many flows a bridge takes.

ALTER TABLE bridge_openflow ADD COLUMN max_flows INTEGER NOT NULL
    DEFAULT 1000000 CHECK (max_flows > 0);
