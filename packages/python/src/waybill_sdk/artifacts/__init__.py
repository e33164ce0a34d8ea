"""Files that go along with work and results. Files too large for an envelope are stored at the hub."""
