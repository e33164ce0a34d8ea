"""Files for frameworks that take them inline."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..artifacts.received import ReceivedArtifact
from ..protocol.encoding import to_base64url
from ..protocol.error import WaybillError

LOADED_BYTES = 32 * 1024 * 1024
"""The most bytes of files that a framework gets with one work or one result. Loaded files are in
memory, and some frameworks write them into their state.
"""


async def loaded(artifacts: Iterable[ReceivedArtifact]) -> list[ReceivedArtifact]:
    """Loads the bytes of artifacts that are stored at the hub.

    Artifacts beyond `LOADED_BYTES` stay there: a framework that needs the bytes refuses them with
    `unloaded`, and one that passes them on passes their reference.
    """
    room = LOADED_BYTES
    files: list[ReceivedArtifact] = []
    for each in artifacts:
        size = each.get("size")
        if size is None or size > room:
            files.append(each)
            continue
        room -= size
        named = {name: each[name] for name in ("name", "media_type", "digest")}
        data = to_base64url(await each.bytes(limit=size))
        files.append(ReceivedArtifact({**named, "data": data}, each.origin))
    return files


def unloaded(artifact: dict[str, Any]) -> WaybillError:
    """Refuses work with a file that the framework can't take: a file is never dropped."""
    return WaybillError(
        413,
        f"The artifact {artifact['name']} has {artifact['size']} bytes. A framework gets files of at most "
        f"{LOADED_BYTES} bytes in total, so this one was left at the hub, where code can read it as a stream. Send "
        "a smaller file, or hand the work to an agent that reads large ones.",
    )
