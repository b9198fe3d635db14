-- SPDX-License-Identifier: Apache-2.0
--
-- Version 8: taps that hold back who sends to them.
ALTER TABLE port ADD COLUMN backpressure INTEGER NOT NULL DEFAULT 0
    CHECK (backpressure IN (0, 1));
