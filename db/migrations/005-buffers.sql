-- SPDX-License-Identifier: Apache-2.0
--
-- Version 5: buffer pools and profiles, dynamic limits, shared headroom, cells
-- and cables that are emulated.

ALTER TABLE bridge ADD COLUMN cell_bytes INTEGER NOT NULL DEFAULT 1
    CHECK (cell_bytes > 0);
ALTER TABLE bridge ADD COLUMN headroom_pool_bytes INTEGER NOT NULL DEFAULT 0
    CHECK (headroom_pool_bytes >= 0);
ALTER TABLE bridge ADD COLUMN headroom_ratio INTEGER NOT NULL DEFAULT 0
    CHECK (headroom_ratio >= 0);
ALTER TABLE port ADD COLUMN cable_emulated INTEGER NOT NULL DEFAULT 1
    CHECK (cable_emulated IN (0, 1));
ALTER TABLE port ADD COLUMN cell_bytes INTEGER NOT NULL DEFAULT 0
    CHECK (cell_bytes >= 0);

CREATE TABLE buffer_pool (
    bridge     TEXT NOT NULL REFERENCES bridge (name) ON DELETE CASCADE,
    name       TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 31),
    size_bytes INTEGER NOT NULL CHECK (size_bytes > 0),
    dynamic    INTEGER NOT NULL CHECK (dynamic IN (0, 1)),
    PRIMARY KEY (bridge, name)
) WITHOUT ROWID;

CREATE TABLE buffer_profile (
    bridge           TEXT NOT NULL REFERENCES bridge (name) ON DELETE CASCADE,
    name             TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 31),
    pool             TEXT,
    reserved_bytes   INTEGER NOT NULL CHECK (reserved_bytes >= 0),
    xoff_bytes       INTEGER NOT NULL CHECK (xoff_bytes >= 0),
    alpha            INTEGER CHECK (alpha BETWEEN -7 AND 3),
    xon_bytes        INTEGER NOT NULL CHECK (xon_bytes >= 0),
    xon_offset_bytes INTEGER NOT NULL CHECK (xon_offset_bytes >= 0),
    headroom_bytes   INTEGER CHECK (headroom_bytes >= 0),
    PRIMARY KEY (bridge, name)
) WITHOUT ROWID;

-- With alpha, xon may be above xoff: the table without that constraint.
CREATE TABLE port_group_new (
    port             TEXT NOT NULL REFERENCES port (name) ON DELETE CASCADE,
    pg               INTEGER NOT NULL CHECK (pg BETWEEN 0 AND 7),
    profile          TEXT,
    reserved_bytes   INTEGER NOT NULL CHECK (reserved_bytes >= 0),
    xoff_bytes       INTEGER NOT NULL CHECK (xoff_bytes >= 0),
    alpha            INTEGER CHECK (alpha BETWEEN -7 AND 3),
    xon_bytes        INTEGER NOT NULL CHECK (xon_bytes >= 0),
    xon_offset_bytes INTEGER NOT NULL CHECK (xon_offset_bytes >= 0),
    headroom_bytes   INTEGER CHECK (headroom_bytes >= 0),
    PRIMARY KEY (port, pg)
) WITHOUT ROWID;
INSERT INTO port_group_new SELECT port, pg, NULL, reserved_bytes, xoff_bytes,
    NULL, xon_bytes, xon_offset_bytes, headroom_bytes FROM port_group;
DROP TABLE port_group;
ALTER TABLE port_group_new RENAME TO port_group;

ALTER TABLE port_queue ADD COLUMN profile TEXT;
ALTER TABLE port_queue ADD COLUMN alpha INTEGER
    CHECK (alpha BETWEEN -7 AND 3);
