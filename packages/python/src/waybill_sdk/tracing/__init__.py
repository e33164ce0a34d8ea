"""Spans and metrics through the OpenTelemetry API, if the application has an SDK."""
