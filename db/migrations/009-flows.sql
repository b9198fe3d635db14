-- SPDX-License-Identifier: Apache-2.0
--
-- Version 9: flows, groups and meters that come back after a restart.

CREATE TABLE openflow_entry (
    bridge TEXT NOT NULL REFERENCES bridge (name) ON DELETE CASCADE,
    kind   TEXT NOT NULL CHECK (kind IN ('group', 'meter', 'flow')),
    text   TEXT NOT NULL,
    seq    INTEGER NOT NULL,
    PRIMARY KEY (bridge, kind, text)
) WITHOUT ROWID;
