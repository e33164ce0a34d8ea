"""What is the same in every adapter: work as text, replies as output, and a step of a framework as
a handoff.
"""
