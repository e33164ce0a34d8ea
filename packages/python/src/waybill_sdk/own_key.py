"""The key that an application keeps for an agent that was given none, as in TypeScript."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

from .protocol.error import WaybillError
from .protocol.key import PrivateKey, key_at, linked, sync_folder

_SETTING = "WAYBILL_KEYS"
"""The environment variable for the folder of keys, instead of that of the application."""

_FOLDER_MODE = 0o700
_WRITABLE_BY_OTHERS = 0o022


def own_key(agent: str, domain: str) -> tuple[PrivateKey, Path]:
    """The key of this agent at this hub, created the first time, and its file."""
    keys, own = _keys_folder()
    of_hub = keys / domain
    own = [*own, of_hub]
    path = of_hub / f"{agent}.key"

    def prepare() -> None:
        _make_folders(keys, own)

    try:
        _check_folders(own)
        return key_at(path, is_no_link=True, prepare=prepare), path
    except OSError as error:
        raise WaybillError(
            500,
            f"The key of {agent} could not be stored in {keys}: {error}. Name a writable folder that persists "
            f"until the next start in {_SETTING}, or pass a key to Agent.",
            cause=error,
        ) from error


def explain(error: WaybillError, path: Path | None) -> WaybillError:
    """Adds the key's origin to the hub's error that the key is not this agent's."""
    if path is None or error.status != 401:
        return error
    return WaybillError(
        401,
        f"{error.message} The key in use is the one in {path}: if the agent had another key before, restore that one.",
        at=error.at,
        cause=error,
    )


def _keys_folder() -> tuple[Path, list[Path]]:
    """The folder for keys, and which folders on the way to it are created and checked as our own."""
    chosen = os.environ.get(_SETTING)
    # A folder from the environment may be a link: secrets are often mounted so.
    if chosen:
        return Path(chosen).absolute(), []
    ours = _application_folder() / ".waybill"
    return ours / "keys", [ours, ours / "keys"]


def _application_folder() -> Path:
    """The nearest folder above the running script with a pyproject.toml, or a package.json with a
    name, independent of the working directory.
    """
    start = _start_folder()
    for folder in (start, *start.parents):
        if (folder / "pyproject.toml").is_file() or _is_named(folder / "package.json"):
            return folder
    return start


def _start_folder() -> Path:
    """A tool that runs scripts, such as a test runner, is not the application: then the working
    directory is searched.
    """
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    if script is None:
        return Path.cwd()
    folder = Path(script).resolve().parent
    is_tool = "site-packages" in folder.parts or _is_environment(folder.parent)
    return Path.cwd() if is_tool else folder


def _is_environment(folder: Path) -> bool:
    """Whether a folder contains the commands of an installed Python."""
    return folder in (Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve())


def _is_named(file: Path) -> bool:
    try:
        said = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(said, dict) and isinstance(said.get("name"), str) and said["name"] != ""


def _check_folders(folders: list[Path]) -> None:
    """Raises if an existing folder is a link, or if others could place a key in it."""
    for folder in folders:
        try:
            found = folder.lstat()
        except FileNotFoundError:
            return
        if stat.S_ISLNK(found.st_mode):
            raise linked(folder)
        if not stat.S_ISDIR(found.st_mode):
            raise WaybillError(
                400,
                f"{folder} is not a folder, so no key can be stored in it. Name another folder.",
            )
        if sys.platform == "win32":
            continue
        is_ours = found.st_uid == os.getuid()
        if is_ours and not found.st_mode & _WRITABLE_BY_OTHERS:
            continue
        whose = "" if is_ours else ", which belongs to another user"
        remedy = f"Run: chmod 700 {folder}." if is_ours else f"Name another folder in {_SETTING}."
        raise WaybillError(
            401,
            f"Others can write to {folder}{whose}, and could put their own key there: no key is stored in it. {remedy}",
        )


def _make_folders(keys: Path, own: list[Path]) -> None:
    if keys not in own:
        made = [folder for folder in (keys, *keys.parents) if not folder.exists()]
        keys.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        for folder in made:
            sync_folder(folder.parent)
    for folder in own:
        folder.mkdir(mode=_FOLDER_MODE, exist_ok=True)
        sync_folder(folder.parent)
    ignored = keys / ".gitignore"
    if not ignored.exists():
        ignored.write_text("*\n")
    # Another process may have been first.
    _check_folders(own)
