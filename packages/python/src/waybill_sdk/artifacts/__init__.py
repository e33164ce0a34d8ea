"""Files that go along with work and results: what is too large for an envelope lies at the hub."""
