"""Files for frameworks, which take their bytes at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..artifacts.received import ReceivedArtifact
from ..protocol.encoding import to_base64url
from ..protocol.error import WaybillError

LOADED_BYTES = 32 * 1024 * 1024
"""How many bytes of files a framework is given with one work or one result: they are in memory then, and some
frameworks write them into their state."""


async def loaded(artifacts: Iterable[ReceivedArtifact]) -> list[ReceivedArtifact]:
    """The same files with the bytes in them of those that lie at the hub.

    What would make it more than `LOADED_BYTES` stays there: a framework that needs its bytes refuses it with
    `unloaded`, and one that passes it on names it."""
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
    """Refuses work with a file that a framework can't be given: it is never dropped."""
    return WaybillError(
        413,
        f"The artifact {artifact['name']} has {artifact['size']} bytes. A framework gets files of at most "
        f"{LOADED_BYTES} bytes in total, so this one was left at the hub, where code can read it as a stream. Send "
        "a smaller file, or hand the work to an agent that reads large ones.",
    )
