"""Hand work from one agent to another, whatever framework each is built on."""
