"""The side of a handoff that hands off."""
