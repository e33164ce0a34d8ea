"""Envelopes, manifests, receipts, signing, contracts and the lifecycle: no I/O, no timers."""
