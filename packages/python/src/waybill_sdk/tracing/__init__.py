"""Spans and metrics by the API of OpenTelemetry, where an application has an SDK of it."""
