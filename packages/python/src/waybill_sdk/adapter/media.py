"""Images, recordings and files in messages: one form on the wire, for every framework."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..protocol.encoding import from_base64url, to_base64url
from ..protocol.error import WaybillError
from .files import unloaded

if TYPE_CHECKING:
    from .words import Message

Part = dict[str, Any]

_TYPES = frozenset(("image", "audio", "file"))


def media_in(message: Message) -> list[Part]:
    """The media in a message. A part that can't be read is refused."""
    return [each for each in message["content"] if _is_media(each)]


def _is_media(part: Part) -> bool:
    if part["type"] not in _TYPES:
        return False
    has_source = isinstance(part.get("data"), str) != isinstance(part.get("url"), str)
    if isinstance(part.get("media_type"), str) and has_source:
        return True
    raise WaybillError(
        422,
        f"A part of the type {part['type']} in a message can't be read: it must have a media_type, and either data "
        "in base64url or a url.",
    )


def media_in_words(part: Part) -> str:
    """The text for a model that can't be shown an image, a recording or a file."""
    called = f"{part['type']} {part['name']}" if "name" in part else part["type"]
    where = [f"at {part['url']}"] if "url" in part else []
    return f"[{', '.join([called, part['media_type'], *where])}]"


def file_in_words(artifact: Part, reason: str | None = None) -> str:
    """The text for a model that can't be shown a file that goes along."""
    name, media_type = (" ".join(artifact[each].split()) for each in ("name", "media_type"))
    where = f", at {artifact['url']}" if "url" in artifact else ""
    because = f", and is not shown here: {reason}" if reason else ""
    return f"[The file {name}, of type {media_type}{where}, goes along{because}.]"


def data_uri_of(part: Part) -> str:
    """The data URI of a part that carries its bytes."""
    return f"data:{part['media_type']};base64,{base64.b64encode(from_base64url(part['data'])).decode()}"


def media_from(kind: str, data_uri: str) -> Part:
    """A part of a message from a data URI."""
    head, _, data = data_uri.partition(";base64,")
    octets = base64.b64decode(data)
    return {
        "type": kind,
        "media_type": head.removeprefix("data:"),
        "data": to_base64url(octets),
    }


def unshowable(part: Part, reason: str) -> WaybillError:
    """Refuses work with media that a framework can't show to its model: media are never dropped."""
    called = f" {part['name']}" if "name" in part else ""
    return WaybillError(
        422,
        f"The history has the {part['type']}{called} of the type {part['media_type']}, which can't be shown to the "
        f"model: {reason}. Leave it out, or send it in another form.",
    )


def shown_by_users(messages: Iterable[Message]) -> list[Message]:
    """Models accept images and files from users only. Media of another role become a user's turn
    under that speaker's name, after the turn that they were in and the results of its tools.
    """
    shown: list[Message] = []
    held: list[Message] = []
    for message in messages:
        if message["role"] != "tool":
            shown += held
            held = []
        media = [] if message["role"] == "user" else media_in(message)
        if not media:
            shown.append(message)
            continue
        words = [each for each in message["content"] if each not in media]
        if words:
            shown.append({**message, "content": words})
        name = message.get("name") or message["role"]
        held.append({"role": "user", "name": name, "content": media})
    return shown + held


def with_files(messages: Sequence[Message], artifacts: Iterable[Part]) -> list[Message]:
    """Files that go along become parts of the last turn of a user, unless the history shows them
    already.
    """
    known = [_source_of(part) for message in messages for part in media_in(message)]
    files = [_file_part(each) for each in artifacts if _source_of(each) not in known]
    shown = [*messages]
    if not files:
        return shown
    last = max((at for at, each in enumerate(shown) if each["role"] == "user"), default=None)
    if last is None:
        return [{"role": "user", "content": files}, *shown]
    shown[last] = {**shown[last], "content": [*shown[last]["content"], *files]}
    return shown


def _source_of(part: Part) -> Any:
    return part.get("data") or part.get("url")


def _file_part(artifact: Part) -> Part:
    if "size" in artifact:
        raise unloaded(artifact)
    kind = "image" if artifact["media_type"].startswith("image/") else "file"
    members = ("name", "media_type", "data", "url")
    return {"type": kind, **{each: artifact[each] for each in members if each in artifact}}


def artifact_of(name: str, media_type: str, octets: bytes) -> Part:
    """A file that goes along with work or a result."""
    digest = f"sha256:{hashlib.sha256(octets).hexdigest()}"
    return {
        "name": name,
        "media_type": media_type,
        "digest": digest,
        "data": to_base64url(octets),
    }
