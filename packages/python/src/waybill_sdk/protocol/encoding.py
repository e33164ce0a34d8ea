"""Strict base64url and digests (WB-02, WB-03)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re

from .error import WaybillError

_ALPHABET = re.compile(r"[A-Za-z0-9_-]*", re.ASCII)
DIGEST = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)


def to_base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def from_base64url(text: str) -> bytes:
    """Rejects every text that an encoder would not have produced for the same bytes."""
    if len(text) % 4 != 1 and _ALPHABET.fullmatch(text):
        try:
            data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except (ValueError, binascii.Error):
            data = None
        # Trailing bits that are not zero decode to the same bytes: only encoding again reveals
        # them.
        if data is not None and to_base64url(data) == text:
            return data
    raise WaybillError(
        400, "Not strict base64url: encode without padding, in the alphabet of RFC 4648 section 5."
    )


def digest_of(text: str) -> str:
    try:
        return "sha256:" + hashlib.sha256(text.encode("utf-8")).hexdigest()
    except UnicodeEncodeError as error:
        raise WaybillError(
            400, "A string with a lone surrogate has no digest.", cause=error
        ) from error


def is_digest(value: object) -> bool:
    return isinstance(value, str) and DIGEST.fullmatch(value) is not None
