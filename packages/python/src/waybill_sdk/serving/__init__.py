"""The recipient's side of a handoff."""
