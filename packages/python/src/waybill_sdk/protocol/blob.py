"""Blobs: content that the hub stores under its digest, apart from envelopes (WB-250 to WB-255)."""

from __future__ import annotations

from .error import WaybillError


def blob_path(digest: str) -> str:
    """The path of a blob at a hub."""
    return f"/v1/blobs/{digest}"


def blob_upload_path(digest: str) -> str:
    """The path where a hub reports how much of a blob it has received from the requesting agent."""
    return f"{blob_path(digest)}/upload"


def content_range(first: int, end: int, size: int) -> str:
    """The Content-Range header of a part: its first byte, the byte after its last one, and the
    total size."""
    return f"bytes {first}-{end - 1}/{size}"


def check_blob(digest: str, size: int, *, received_digest: str, received_size: int) -> None:
    """Checks that received bytes are the blob that an artifact names. Call it before they are used."""
    if received_size != size:
        raise WaybillError(
            422,
            f"The blob {digest} should have {size} bytes, but {received_size} arrived. Discard "
            "them, and read it again.",
        )
    if received_digest != digest:
        raise WaybillError(
            422,
            f"The bytes received for the blob {digest} have the digest {received_digest}: the hub, or somebody "
            "in between, has changed them. Discard them.",
        )
