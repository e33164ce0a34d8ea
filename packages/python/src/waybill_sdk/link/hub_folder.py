"""The hub of a data folder on this machine."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from ..protocol.error import WaybillError

_BYTES_MAX = 64 * 1024
_TOKEN = re.compile(r"([\w-]{43})\.[\w-]{43}", re.ASCII)


def data_folder(named: str | os.PathLike[str] | None) -> Path:
    """The same as that of the `waybill` command by default."""
    return Path(named or os.environ.get("WAYBILL_DATA") or ".waybill").absolute()


def hub_of_folder(folder: Path) -> tuple[str, str | None]:
    """Its address, which is its Unix socket if it has one, and the custody domain of the folder:
    another hub may listen at the URL by now. Raises a 503 while there is none.
    """
    token = _TOKEN.fullmatch((_read_own(folder / "operator.token") or "").strip())
    domain = None if token is None else token[1]
    socket = folder / "hub.sock"
    try:
        found = os.lstat(socket)
    except (FileNotFoundError, NotADirectoryError):
        url = _read_own(folder / "hub.url")
        if url is not None:
            return url.strip(), domain
        raise WaybillError(
            503,
            f"No hub runs in the data folder {folder} (it has no hub.url that this user may use). "
            'Start one with "waybill dev" beside the folder, or name a hub by its address.',
        ) from None
    if not stat.S_ISSOCK(found.st_mode) or _is_foreign(found.st_uid):
        raise WaybillError(
            403,
            f"{socket} is not a socket of this user, and is not used. Remove it, or name the hub by its URL.",
        )
    return f"unix:{socket}", domain


def _read_own(path: Path) -> str | None:
    """A small file of this user or of root. Links are not followed."""
    # Windows has no such flags. Without O_NONBLOCK, opening a pipe would block.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as handle:
        found = os.fstat(handle.fileno())
        if not stat.S_ISREG(found.st_mode) or _is_foreign(found.st_uid):
            return None
        return handle.read(_BYTES_MAX).decode("utf-8", "replace")


def _is_foreign(owner: int) -> bool:
    """Whether a file belongs to neither this user nor root, who can read everything anyway."""
    if os.name != "posix":
        return False
    own = os.geteuid()
    return own != 0 and owner not in (own, 0)
