"""The side of a handoff that does the work."""
