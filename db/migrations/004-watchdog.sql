-- SPDX-License-Identifier: Apache-2.0
--
-- Version 4: what is watched: storms, endless pauses, floods of lossless
-- frames.

CREATE TABLE bridge_watch (
    bridge            TEXT PRIMARY KEY NOT NULL
                      REFERENCES bridge (name) ON DELETE CASCADE,
    watchdog_override TEXT NOT NULL,
    drop_unknown      INTEGER NOT NULL CHECK (drop_unknown IN (0, 1))
);

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
