-- SPDX-License-Identifier: Apache-2.0
--
-- The configuration of sluiced, version 10.  A new database is made from this
-- file; an older one is brought here by the files in migrations/, in order of
-- their numbers, each of which makes the version that it is named after.  A
-- test holds both ways to the same result.
--
-- The constraints keep the tables in order; what values may be is the matter
-- of lib/conf, which validates what is loaded as it does what is applied.

-- A bridge, with the defaults of its ports' maps.
CREATE TABLE bridge (
    name             TEXT PRIMARY KEY NOT NULL
                     CHECK (length(name) BETWEEN 1 AND 15),
    memory_bytes     INTEGER NOT NULL CHECK (memory_bytes > 0),
    max_frame_bytes  INTEGER NOT NULL CHECK (max_frame_bytes > 0),
    mac_ageing_s     INTEGER NOT NULL CHECK (mac_ageing_s >= 0),
    forward_reserved INTEGER NOT NULL CHECK (forward_reserved IN (0, 1)),
    trust            TEXT NOT NULL,
    default_priority INTEGER NOT NULL
                     CHECK (default_priority BETWEEN 0 AND 7),
    priority_tags    TEXT NOT NULL DEFAULT 'keep',
    cell_bytes       INTEGER NOT NULL DEFAULT 1 CHECK (cell_bytes > 0),
    headroom_pool_bytes INTEGER NOT NULL DEFAULT 0
                     CHECK (headroom_pool_bytes >= 0),
    headroom_ratio   INTEGER NOT NULL DEFAULT 0 CHECK (headroom_ratio >= 0),
    local            INTEGER NOT NULL DEFAULT 1 CHECK (local IN (0, 1))
);

-- Parts of a bridge's memory that groups share.
CREATE TABLE buffer_pool (
    bridge     TEXT NOT NULL REFERENCES bridge (name) ON DELETE CASCADE,
    name       TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 31),
    size_bytes INTEGER NOT NULL CHECK (size_bytes > 0),
    dynamic    INTEGER NOT NULL CHECK (dynamic IN (0, 1)),
    PRIMARY KEY (bridge, name)
) WITHOUT ROWID;

-- Thresholds for groups and queues.  pool: null for the default one; alpha:
-- null when xoff_bytes is the limit; headroom_bytes: null when it is computed.
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

-- Eight rows for each kind, and 64 for dscp_to_priority; none: the default.
-- to_code of priority_to_pcp and priority_to_dscp: 255 leaves it as it came.
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

-- A port.  Its slot is its place in the datapath, kept while the port lives;
-- ofport is its number in OpenFlow.
-- mac: null when none is given.  pfc_priorities: bit p for priority p.
-- trust, default_priority, priority_tags: null when the bridge's hold.
CREATE TABLE port (
    name             TEXT PRIMARY KEY NOT NULL
                     CHECK (length(name) BETWEEN 1 AND 15),
    bridge           TEXT NOT NULL REFERENCES bridge (name) ON DELETE CASCADE,
    type             TEXT NOT NULL,
    slot             INTEGER NOT NULL CHECK (slot BETWEEN 0 AND 255),
    mac              BLOB CHECK (mac IS NULL OR length(mac) = 6),
    rate_bps         INTEGER NOT NULL CHECK (rate_bps >= 0),
    cable_delay_ns   INTEGER NOT NULL CHECK (cable_delay_ns >= 0),
    vlan_mode        TEXT NOT NULL,
    tag              INTEGER NOT NULL CHECK (tag BETWEEN 0 AND 4094),
    pfc_priorities   INTEGER NOT NULL CHECK (pfc_priorities BETWEEN 0 AND 255),
    pfc_asymmetric   INTEGER NOT NULL CHECK (pfc_asymmetric IN (0, 1)),
    pfc_quanta       INTEGER NOT NULL CHECK (pfc_quanta BETWEEN 1 AND 65535),
    pause_rx         INTEGER NOT NULL CHECK (pause_rx IN (0, 1)),
    pause_tx         INTEGER NOT NULL CHECK (pause_tx IN (0, 1)),
    trust            TEXT,
    default_priority INTEGER CHECK (default_priority BETWEEN 0 AND 7),
    ring_bytes       INTEGER NOT NULL DEFAULT 0 CHECK (ring_bytes >= 0),
    priority_tags    TEXT,
    cable_emulated   INTEGER NOT NULL DEFAULT 1
                     CHECK (cable_emulated IN (0, 1)),
    cell_bytes       INTEGER NOT NULL DEFAULT 0 CHECK (cell_bytes >= 0),
    ofport           INTEGER NOT NULL DEFAULT 0 CHECK (ofport >= 0),
    backpressure     INTEGER NOT NULL DEFAULT 0 CHECK (backpressure IN (0, 1)),
    UNIQUE (bridge, slot)
);

-- As many rows for each kind that the port gives; none: the bridge's hold.
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

-- VLANs of a trunk; no row: all.
CREATE TABLE port_trunk (
    port TEXT NOT NULL REFERENCES port (name) ON DELETE CASCADE,
    vid  INTEGER NOT NULL CHECK (vid BETWEEN 0 AND 4094),
    PRIMARY KEY (port, vid)
) WITHOUT ROWID;

-- Ingress priority groups, eight rows for a port.  profile: null when there is
-- none; alpha: null when xoff_bytes is the limit; headroom_bytes: null when it
-- is computed.
CREATE TABLE port_group (
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

-- Egress queues, eight rows for a port.  wred_max_bytes: 0 for no WRED.
-- profile, alpha: as for groups.
CREATE TABLE port_queue (
    port           TEXT NOT NULL REFERENCES port (name) ON DELETE CASCADE,
    queue          INTEGER NOT NULL CHECK (queue BETWEEN 0 AND 7),
    ets            INTEGER NOT NULL CHECK (ets IN (0, 1)),
    weight         INTEGER NOT NULL CHECK (weight BETWEEN 0 AND 100),
    max_rate_bps   INTEGER NOT NULL CHECK (max_rate_bps >= 0),
    limit_bytes    INTEGER NOT NULL CHECK (limit_bytes > 0),
    wred_min_bytes INTEGER NOT NULL DEFAULT 0 CHECK (wred_min_bytes >= 0),
    wred_max_bytes INTEGER NOT NULL DEFAULT 0
                   CHECK (wred_max_bytes >= wred_min_bytes),
    wred_percent   INTEGER NOT NULL DEFAULT 100
                   CHECK (wred_percent BETWEEN 0 AND 100),
    ecn            INTEGER NOT NULL DEFAULT 0 CHECK (ecn IN (0, 1)),
    profile        TEXT,
    alpha          INTEGER CHECK (alpha BETWEEN -7 AND 3),
    PRIMARY KEY (port, queue)
) WITHOUT ROWID;

-- What is watched over, a row for each bridge and port.
CREATE TABLE bridge_watch (
    bridge            TEXT PRIMARY KEY NOT NULL
                      REFERENCES bridge (name) ON DELETE CASCADE,
    watchdog_override TEXT NOT NULL,
    drop_unknown      INTEGER NOT NULL CHECK (drop_unknown IN (0, 1))
);

-- guard_ms: 0 when there is none.
CREATE TABLE port_watch (
    port           TEXT PRIMARY KEY NOT NULL
                   REFERENCES port (name) ON DELETE CASCADE,
    enabled        INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    action         TEXT NOT NULL,
    detection_ms   INTEGER NOT NULL CHECK (detection_ms > 0),
    restoration_ms INTEGER NOT NULL CHECK (restoration_ms > 0),
    poll_ms        INTEGER NOT NULL CHECK (poll_ms > 0),
    guard_ms       INTEGER NOT NULL CHECK (guard_ms >= 0),
    guard_release  INTEGER NOT NULL CHECK (guard_release IN (0, 1))
);

-- Who controls a bridge over OpenFlow, a row for each; files: null when there
-- is none.  datapath_id: 16 hexadecimal digits, or auto.
CREATE TABLE bridge_openflow (
    bridge         TEXT PRIMARY KEY NOT NULL
                   REFERENCES bridge (name) ON DELETE CASCADE,
    fail_mode      TEXT NOT NULL,
    datapath_id    TEXT NOT NULL,
    management     INTEGER NOT NULL CHECK (management IN (0, 1)),
    private_key    TEXT,
    certificate    TEXT,
    ca_certificate TEXT,
    max_flows      INTEGER NOT NULL DEFAULT 1000000 CHECK (max_flows > 0)
);

CREATE TABLE controller (
    bridge         TEXT NOT NULL REFERENCES bridge (name) ON DELETE CASCADE,
    target         TEXT NOT NULL CHECK (length(target) BETWEEN 1 AND 127),
    probe_ms       INTEGER NOT NULL CHECK (probe_ms >= 0),
    max_backoff_ms INTEGER NOT NULL CHECK (max_backoff_ms > 0),
    PRIMARY KEY (bridge, target)
) WITHOUT ROWID;

-- Flows, groups and meters that come back after a restart, as lines in the
-- syntax of ovs-ofctl, to be added in the order of seq.
CREATE TABLE openflow_entry (
    bridge TEXT NOT NULL REFERENCES bridge (name) ON DELETE CASCADE,
    kind   TEXT NOT NULL CHECK (kind IN ('group', 'meter', 'flow')),
    text   TEXT NOT NULL,
    seq    INTEGER NOT NULL,
    PRIMARY KEY (bridge, kind, text)
) WITHOUT ROWID;

PRAGMA application_id = 1397506885;
PRAGMA user_version = 10;
