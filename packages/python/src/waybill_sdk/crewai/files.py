"""Images, recordings and files, by CrewAI's own file support."""

from __future__ import annotations

import hashlib
import mimetypes
import re
from collections.abc import Iterable
from typing import Any, TypeAlias

from crewai import BaseLLM, Crew
from crewai.hooks.contexts import StepContext
from crewai.hooks.dispatch import HookAborted
from crewai.hooks.llm_hooks import LLMCallHookContext
from crewai.utilities.file_store import aget_all_files, get_all_files

from ..adapter.files import unloaded
from ..adapter.media import Part, file_in_words, media_in, unshowable
from ..adapter.words import Message
from ..protocol.encoding import from_base64url, to_base64url
from ..protocol.error import WaybillError

try:
    from crewai_files import (
        FileBytes,
        FileProcessor,
        get_supported_content_types,
        wrap_file_source,
    )
except ImportError:
    _IS_INSTALLED = False
else:
    _IS_INSTALLED = True

InputFiles: TypeAlias = dict[str, Any]
"""As `kickoff` takes them, by their names."""

_NAME_LENGTH = 64
_UNFIT = re.compile(r"[^\w .()-]")


class ShownFiles:
    """The files of some work. Media in its messages must reach the models; artifacts are shown to
    models that can take them, and described to the others.
    """

    def __init__(self, messages: Iterable[Message], artifacts: Iterable[dict[str, Any]]) -> None:
        self.files: InputFiles = {}
        self.refused: WaybillError | None = None
        """Why a model could not be shown what it has to be shown."""
        self._shown: dict[str, Part] = {}
        self._told: list[str] = []
        """Of what CrewAI has no file of its own for."""
        for message in messages:
            for part in media_in(message):
                if not _IS_INSTALLED:
                    raise unshowable(
                        part,
                        "CrewAI's file support is not installed here (pip install 'crewai[file-processing]')",
                    )
                if "data" not in part:
                    raise unshowable(part, "CrewAI would fetch its URL by itself")
                self._shown[self._add(part)] = part
        for artifact in artifacts:
            if not _IS_INSTALLED or "url" in artifact:
                self._told.append(file_in_words(artifact))
            elif "size" in artifact:
                raise unloaded(artifact)
            else:
                self._add(artifact)

    def _add(self, part: Part) -> str:
        kind, media_type = part.get("type", "file"), part["media_type"]
        given = part.get("name") or f"{kind}{mimetypes.guess_extension(media_type) or ''}"
        return _add(self.files, part, given)

    def assert_shown_by(self, crew: Crew) -> None:
        """Before any model is asked: all agents of a crew are shown its files."""
        for agent in crew.agents:
            model = getattr(agent, "llm", None)
            for name, part in self._shown.items():
                reason = _why_not(model, self.files[name])
                if isinstance(model, BaseLLM) and reason is not None:
                    raise unshowable(part, f"{agent.role}: {reason}")

    def before_task(self, step: StepContext) -> None:
        """CrewAI tells a task the names of its own files only."""
        if step.kind == "task" and self._told:
            step.payload = "\n\n".join((*([step.payload] if step.payload else []), *self._told))

    def before_model_call(self, context: LLMCallHookContext) -> None:
        """CrewAI fails if a model takes no files at all, and drops those that it does not take."""
        for message in context.messages:
            attached: Any = message.get("files") or {}
            if not attached:
                continue
            reasons = {name: _why_not(context.llm, each) for name, each in attached.items()}
            for name, reason in reasons.items():
                if reason is not None and name in self._shown:
                    self.refused = unshowable(self._shown[name], reason)
                    raise HookAborted(reason)
            message["files"] = {
                name: each for name, each in attached.items() if reasons[name] is None
            }
            left_out = [
                file_in_words({"name": name, "media_type": each.content_type}, reasons[name])
                for name, each in attached.items()
                if reasons[name] is not None
            ]
            message["content"] = "\n".join((str(message["content"]), *left_out))


def input_files(artifacts: Iterable[Part], by: str) -> InputFiles:
    """Artifacts of a result as files of a crew, without those that were left at the hub or are at a
    URL.
    """
    files: InputFiles = {}
    for artifact in artifacts:
        if _IS_INSTALLED and "data" in artifact:
            _add(files, artifact, f"{by} {artifact['name']}")
    return files


def _add(files: InputFiles, part: Part, given: str) -> str:
    # A model is told the name in a list of names.
    fit = _UNFIT.sub("_", given)[-_NAME_LENGTH:]
    name, number = fit, 1
    while name in files:
        number += 1
        name = f"{number} {fit}"
    source = FileBytes(data=from_base64url(part["data"]), filename=name)
    # CrewAI would guess it from the bytes or the name. The sender has stated it.
    source._content_type = part["media_type"]
    file = wrap_file_source(source)
    # Neither shrunk nor cut into pieces.
    file.mode = "strict"
    files[name] = file
    return name


def _why_not(model: Any, file: Any) -> str | None:
    """Why CrewAI would not show a file to a model; None if it would."""
    if not isinstance(model, BaseLLM) or not model.supports_multimodal():
        return f"the model {getattr(model, 'model', model)} takes words alone"
    # LiteLLM takes all in OpenAI's form.
    host = "openai" if getattr(model, "is_litellm", False) else model.provider or model.model
    api = getattr(model, "api", None)
    if not any(
        file.content_type.startswith(each) for each in get_supported_content_types(host, api)
    ):
        return f"CrewAI has no place for it in a request to {host}"
    try:
        FileProcessor(constraints=host).validate(file)
    except Exception as error:
        return str(error)
    return None


def artifacts_of(task: Any, crew: Any) -> list[dict[str, Any]]:
    """The files of a task and of its crew, for another agent."""
    found = get_all_files(crew.id, task.id) if _IS_INSTALLED and crew is not None else None
    return [_artifact(name, each) for name, each in (found or {}).items()]


async def aartifacts_of(task: Any, crew: Any) -> list[dict[str, Any]]:
    """The same in a loop, which must not be blocked."""
    found = await aget_all_files(crew.id, task.id) if _IS_INSTALLED and crew is not None else None
    return [_artifact(name, each) for name, each in (found or {}).items()]


def _artifact(name: str, file: Any) -> dict[str, Any]:
    content: bytes = file.read()
    return {
        "name": file.filename or name,
        "media_type": file.content_type,
        "digest": f"sha256:{hashlib.sha256(content).hexdigest()}",
        "data": to_base64url(content),
    }
