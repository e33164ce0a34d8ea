"""An agent's line to its hub: found, kept open, and everything sent until the hub has signed for it."""
