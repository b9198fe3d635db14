-- SPDX-License-Identifier: Apache-2.0
--
-- Version 3: maps of DSCP, maps that rewrite, priority tags, and WRED.  The
-- constraints of the map tables change, so these are made anew.

ALTER TABLE bridge ADD COLUMN priority_tags TEXT NOT NULL DEFAULT 'keep';
ALTER TABLE port ADD COLUMN priority_tags TEXT;

ALTER TABLE port_queue ADD COLUMN wred_min_bytes INTEGER NOT NULL DEFAULT 0
    CHECK (wred_min_bytes >= 0);
ALTER TABLE port_queue ADD COLUMN wred_max_bytes INTEGER NOT NULL DEFAULT 0
    CHECK (wred_max_bytes >= wred_min_bytes);
ALTER TABLE port_queue ADD COLUMN wred_percent INTEGER NOT NULL DEFAULT 100
    CHECK (wred_percent BETWEEN 0 AND 100);
ALTER TABLE port_queue ADD COLUMN ecn INTEGER NOT NULL DEFAULT 0
    CHECK (ecn IN (0, 1));

ALTER TABLE bridge_map RENAME TO old_bridge_map;
CREATE TABLE bridge_map (
    bridge    TEXT NOT NULL REFERENCES bridge (name) ON DELETE CASCADE,
    kind      TEXT NOT NULL CHECK (kind IN ('pcp_to_priority',
                                            'dscp_to_priority',
                                            'priority_to_queue',
                                            'priority_to_group',
                                            'priority_to_pcp',
                                            'priority_to_dscp')),
    from_code INTEGER NOT NULL CHECK (from_code BETWEEN 0 AND 63),
    to_code   INTEGER NOT NULL CHECK (to_code BETWEEN 0 AND 255),
    PRIMARY KEY (bridge, kind, from_code)
) WITHOUT ROWID;
INSERT INTO bridge_map SELECT bridge, kind, from_code, to_code
    FROM old_bridge_map;
DROP TABLE old_bridge_map;

ALTER TABLE port_map RENAME TO old_port_map;
CREATE TABLE port_map (
    port      TEXT NOT NULL REFERENCES port (name) ON DELETE CASCADE,
    kind      TEXT NOT NULL CHECK (kind IN ('pcp_to_priority',
                                            'dscp_to_priority',
                                            'priority_to_queue',
                                            'priority_to_group',
                                            'priority_to_pcp',
                                            'priority_to_dscp')),
    from_code INTEGER NOT NULL CHECK (from_code BETWEEN 0 AND 63),
    to_code   INTEGER NOT NULL CHECK (to_code BETWEEN 0 AND 255),
    PRIMARY KEY (port, kind, from_code)
) WITHOUT ROWID;
INSERT INTO port_map SELECT port, kind, from_code, to_code FROM old_port_map;
DROP TABLE old_port_map;
