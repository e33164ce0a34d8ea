"""An agent's connection to its hub: it reconnects, and resends everything until the hub has signed
for it.
"""
