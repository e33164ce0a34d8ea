"""Tokens in the metrics of the application, if it has any."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

from ..protocol.tracing import (
    SCHEMA_URL,
    TOKEN_USAGE_BOUNDARIES,
    TOKEN_USAGE_DESCRIPTION,
    TOKEN_USAGE_NAME,
    TOKEN_USAGE_UNIT,
    token_points,
)
from ..protocol.usage import UsageRow
from .api import NAME, opentelemetry

# The SDK warns about an instrument that is made twice.
_histograms: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


def record_tokens(rows: Sequence[UsageRow]) -> None:
    """Records an attempt's own usage."""
    histogram = _histogram() if rows else None
    if histogram is not None:
        for tokens, attributes in token_points(rows):
            histogram.record(tokens, attributes)


def _histogram() -> Any:
    api = opentelemetry()
    if api is None:
        return None
    provider = api.metrics.get_meter_provider()
    # The API's own stand-in, until the application has registered a provider.
    if type(provider).__module__.startswith("opentelemetry.metrics"):
        return None
    if provider not in _histograms:
        _histograms[provider] = provider.get_meter(NAME, schema_url=SCHEMA_URL).create_histogram(
            TOKEN_USAGE_NAME,
            unit=TOKEN_USAGE_UNIT,
            description=TOKEN_USAGE_DESCRIPTION,
            explicit_bucket_boundaries_advisory=TOKEN_USAGE_BOUNDARIES,
        )
    return _histograms[provider]
