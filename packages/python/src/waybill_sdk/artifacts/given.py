"""What a user gives as a file: its bytes, a path, a stream, or an artifact as an envelope has it."""

from __future__ import annotations

import hashlib
import mimetypes
import os
from collections.abc import Mapping
from typing import Any

GivenArtifact = Mapping[str, Any]
"""One of four forms. `name` may be left out for a path, and `media_type` where the name ends with it:

- `{"path": "interview.wav"}`: a file on disk, which is never read whole into memory;
- `{"name": "notes.txt", "bytes": b"…"}`;
- `{"name": "film.mp4", "stream": chunks}`: an iterable of bytes, with async or without, or a binary file;
- an artifact that was received."""

# Those that Python knows by itself, whatever is installed beside it.
_TYPES = mimetypes.MimeTypes()


def is_artifact(given: GivenArtifact) -> bool:
    """Whether what was given already names its digest."""
    return "digest" in given


def label_of(given: GivenArtifact) -> dict[str, str]:
    """The name and the type of a file, as far as they were given and otherwise from its path."""
    name = given.get("name") or os.path.basename(os.fspath(given["path"]))
    return {"name": name, "media_type": given.get("media_type") or _media_type_of(name)}


def _media_type_of(name: str) -> str:
    kind, encoding = _TYPES.guess_type(name)
    if encoding is not None:
        return "application/gzip" if encoding == "gzip" else "application/octet-stream"
    return kind or "application/octet-stream"


def is_same_artifact(one: GivenArtifact, other: GivenArtifact) -> bool:
    """A file that was not read yet has no digest, and is compared by name."""
    if label_of(one) != label_of(other):
        return False
    digests = [_digest_of(one), _digest_of(other)]
    return None in digests or digests[0] == digests[1]


def _digest_of(given: GivenArtifact) -> tuple[str, str | None] | None:
    if is_artifact(given):
        return given["digest"], given.get("url")
    if "bytes" in given:
        return digest_of_bytes(given["bytes"]), None
    return None


def digest_of_bytes(octets: bytes) -> str:
    return "sha256:" + hashlib.sha256(octets).hexdigest()
