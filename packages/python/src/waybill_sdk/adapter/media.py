"""Images, recordings and files in messages: one form on the wire, for every framework."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from ..protocol.error import WaybillError

if TYPE_CHECKING:
    from .words import Message

Part = dict[str, Any]

_TYPES = frozenset(("image", "audio", "file"))


def media_in(message: Message) -> list[Part]:
    """The parts of a message that are an image, a recording or a file. One that can't be read is refused."""
    return [each for each in message["content"] if _is_media(each)]


def _is_media(part: Part) -> bool:
    if part["type"] not in _TYPES:
        return False
    has_source = isinstance(part.get("data"), str) != isinstance(part.get("url"), str)
    if isinstance(part.get("media_type"), str) and has_source:
        return True
    raise WaybillError(
        422,
        f"A part of the type {part['type']} in a message has a media_type, and either data in base64url or a url: this one can't be read.",
    )


def media_in_words(part: Part) -> str:
    """What a model that is not shown an image, a recording or a file is told of it."""
    called = f"{part['type']} {part['name']}" if "name" in part else part["type"]
    where = [f"at {part['url']}"] if "url" in part else []
    return f"[{', '.join([called, part['media_type'], *where])}]"


def data_uri_of(part: Part) -> str:
    """The data URI of a part that carries its bytes."""
    data = part["data"]
    octets = base64.urlsafe_b64decode(data + "=" * (-len(data) % 4))
    return f"data:{part['media_type']};base64,{base64.b64encode(octets).decode()}"


def media_from(kind: str, data_uri: str) -> Part:
    """A part of a message from a data URI."""
    head, _, data = data_uri.partition(";base64,")
    octets = base64.b64decode(data)
    encoded = base64.urlsafe_b64encode(octets).decode().rstrip("=")
    return {"type": kind, "media_type": head.removeprefix("data:"), "data": encoded}


def unshowable(part: Part, reason: str) -> WaybillError:
    """Refuses work with something that a framework can't show to its model: it is never dropped."""
    called = f" {part['name']}" if "name" in part else ""
    return WaybillError(
        422,
        f"The history has the {part['type']}{called} of the type {part['media_type']}, which can't be shown to the model: {reason}. Leave it out, or send it in another form.",
    )
