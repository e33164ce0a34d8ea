"""Parts of messages in the formats of model providers. By the same rules, and with the same
vectors, as in TypeScript.
"""

from __future__ import annotations

import base64
import re
from typing import Any
from urllib.parse import unquote_to_bytes

from ..protocol.encoding import to_base64url
from ..protocol.error import WaybillError

Part = dict[str, Any]

_ANY = {"image": "image/*", "audio": "audio/*", "file": "application/octet-stream"}
_DATA_URL = re.compile(r"data:([^;,]*)((?:;[^;,]*)*),(.*)", re.IGNORECASE | re.DOTALL)
_LONE_PERCENT = re.compile(r"%(?![0-9a-fA-F]{2})")
_KINDS = {
    "image_url": "image",
    "input_image": "image",
    "input_audio": "audio",
    "input_file": "file",
}
# Parts that have a field of their own in a turn, and parts of use to one provider alone: a model's
# reasoning and the calls of its built-in tools.
_APART = frozenset(
    (
        "tool_call",
        "tool_result",
        "reasoning",
        "thinking",
        "redacted_thinking",
        "invalid_tool_call",
        "server_tool_call",
        "server_tool_call_result",
        "server_tool_use",
        "web_search_tool_result",
    )
)


def media_from_host(part: Part) -> Part:
    """Converts a part in a model provider's format for an image, a recording or a file to media;
    any other part stays as it is. A reference to a file stored at the provider is refused: the
    recipient would look for it in an account of its own.
    """
    kind = _KINDS.get(part["type"])
    if kind is None:
        return part
    filename = part.get("filename")
    named = {"name": filename} if kind == "file" and isinstance(filename, str) else {}
    source = _source_of(part)
    if not isinstance(source, str):
        raise _elsewhere(part)
    if re.match("https?://", source, re.IGNORECASE):
        return {"type": kind, "media_type": _ANY[kind], **named, "url": source}
    found = _DATA_URL.fullmatch(source)
    if found is None:
        raise _elsewhere(part)
    media_type, parameters, content = found.groups()
    try:
        octets = _octets_of(parameters, content)
    except ValueError:
        raise _elsewhere(part) from None
    media_type = media_type or _ANY[kind]
    return {"type": kind, "media_type": media_type, **named, "data": to_base64url(octets)}


def media_from_host_or_words(part: Part) -> Part:
    """The same for a result, in which nothing is refused: a file stored at the provider is
    described by its type.
    """
    try:
        return media_from_host(part)
    except WaybillError:
        return {"type": "text", "text": f"[{part['type']}]"}


def assert_readable(part: Part) -> None:
    """Refuses a part that is neither text nor media nor data: a model can't be shown it, and it is
    never dropped.
    """
    if part.get("text") is not None or part["type"] in _APART:
        return
    if part["type"] not in ("image", "audio", "file", "data"):
        raise WaybillError(
            422,
            f"The history has a part of the type {part['type']}, which can't be shown to the model: only text, "
            "media and data can. Leave it out, or send it as one of these.",
        )


def _source_of(part: Part) -> Any:
    if part["type"] == "input_file":
        return part.get("file_url") if part.get("file_data") is None else part["file_data"]
    given = part.get("input_audio" if part["type"] == "input_audio" else "image_url")
    if not isinstance(given, dict):
        return given if part["type"] != "input_audio" else None
    if part["type"] != "input_audio":
        return given.get("url")
    data, form = given.get("data"), given.get("format")
    is_here = isinstance(data, str) and isinstance(form, str)
    return f"data:audio/{form};base64,{data}" if is_here else None


def _octets_of(parameters: str, content: str) -> bytes:
    if parameters.lower().endswith(";base64"):
        return base64.b64decode(content + "=" * (-len(content) % 4))
    if _LONE_PERCENT.search(content):
        raise ValueError("A percent sign stands alone.")
    return unquote_to_bytes(content)


def _elsewhere(part: Part) -> WaybillError:
    return WaybillError(
        422,
        f"The history has a part of the type {part['type']} without its bytes or a readable http or https URL. A "
        "file must not be a reference to a model provider's storage: the recipient would look for it in its own "
        "account there. Send the bytes, or a URL that anybody can read.",
    )
