"""The limits of the protocol. Exceeding one is rejected with 413, unless a rule says otherwise."""

ENVELOPE_BYTES = 1_048_576
JSON_DEPTH = 64
ARTIFACTS = 256
CLOCK_SKEW_MS = 60_000
DEADLINE_AHEAD_MS = 31_622_400_000
HOPS = 16
FAN_OUT = 256
PAUSED_STATE_BYTES = 262_144
# For each list of a usage.
USAGE_ROWS = 64
# Handoffs that one receipt may list beside its own.
ALSO_LISTED = 64
SCHEMA_NODES = 10_000
SCHEMA_DEPTH = 32
# UTF-16 code units of one delta.
DELTA_CHARACTERS = 4_096
# For all schemas of one manifest together.
MANIFEST_SCHEMAS = 20_000
MANIFEST_SCHEMA_CHARACTERS = 2_097_152
MANIFEST_PATTERN_STATES = 100_000
# The cost of one check of a value, and of all checks of one query together.
CHECK_STEPS = 3_000_000
QUERY_STEPS = 20_000_000
SAFE_INTEGER = 2**53 - 1
# The maximum time that a hub may be asked to wait for the holder of a session.
SESSION_WAIT_SECONDS = 86_400
