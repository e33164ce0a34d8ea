"""What is the same in every adapter: work as words, replies as output, and a step of a framework as a handoff."""
