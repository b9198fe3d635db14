-- SPDX-License-Identifier: Apache-2.0
--
-- Version 7: who controls a bridge over OpenFlow.

CREATE TABLE bridge_openflow (
    bridge         TEXT PRIMARY KEY NOT NULL
                   REFERENCES bridge (name) ON DELETE CASCADE,
    fail_mode      TEXT NOT NULL,
    datapath_id    TEXT NOT NULL,
    management     INTEGER NOT NULL CHECK (management IN (0, 1)),
    private_key    TEXT,
    certificate    TEXT,
    ca_certificate TEXT
);

CREATE TABLE controller (
    bridge         TEXT NOT NULL REFERENCES bridge (name) ON DELETE CASCADE,
    target         TEXT NOT NULL CHECK (length(target) BETWEEN 1 AND 127),
    probe_ms       INTEGER NOT NULL CHECK (probe_ms >= 0),
    max_backoff_ms INTEGER NOT NULL CHECK (max_backoff_ms > 0),
    PRIMARY KEY (bridge, target)
) WITHOUT ROWID;
