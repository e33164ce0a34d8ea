"""The delegator's side of a handoff."""
