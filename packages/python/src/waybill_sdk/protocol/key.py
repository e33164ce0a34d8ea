"""Keys: of others (enrolment and verification) and the agent's own (signing, and its file)."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from .edwards import SMALL_ORDER, L, is_sound_key
from .encoding import from_base64url, to_base64url
from .error import WaybillError

_OTHERS = 0o077


def thumbprint(x: str) -> str:
    """The RFC 7638 thumbprint of a key (WB-16)."""
    name = f'{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}'
    return to_base64url(hashlib.sha256(name.encode("ascii")).digest())


@dataclass(frozen=True)
class PublicKey:
    """A key that has passed the check of enrolment."""

    x: str
    kid: str
    _key: Ed25519PublicKey

    @property
    def jwk(self) -> dict[str, str]:
        return {"kty": "OKP", "crv": "Ed25519", "x": self.x}

    def verifies(self, signature: bytes, message: bytes) -> bool:
        """Verifies with the cofactorless equation, S below the order, and R not of small order
        (WB-12 to WB-14)."""
        if len(signature) != 64 or int.from_bytes(signature[32:], "little") >= L:
            return False
        if signature[:32] in SMALL_ORDER:
            return False
        try:
            self._key.verify(signature, message)
        except InvalidSignature:
            return False
        return True


def public_key_from_bytes(data: bytes) -> PublicKey:
    if not is_sound_key(data):
        raise WaybillError(
            401,
            "This Ed25519 key can't be trusted: it is not a canonical point, is of small order, or has "
            "a torsion component. Create a new key.",
        )
    x = to_base64url(data)
    return PublicKey(x, thumbprint(x), Ed25519PublicKey.from_public_bytes(data))


def enrol(jwk: Any) -> PublicKey:
    """Reads a public key from its JWK (WB-15, WB-17)."""
    if not isinstance(jwk, dict):
        raise WaybillError(400, "A key must be a JWK, which is an object.")
    if "d" in jwk:
        raise WaybillError(
            400,
            "This is a private key. Publish it without `d`, and replace it: others may have it.",
        )
    x = jwk.get("x")
    if jwk.get("kty") != "OKP" or jwk.get("crv") != "Ed25519" or not isinstance(x, str):
        raise WaybillError(401, "Only Ed25519 keys are accepted: kty OKP, crv Ed25519, x.")
    try:
        data = from_base64url(x)
    except WaybillError as error:
        raise WaybillError(401, "The `x` of a key is not strict base64url.", cause=error) from error
    return public_key_from_bytes(data)


class PrivateKey:
    """The agent's own key. Whoever has it can act as the agent."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public = public_key_from_bytes(key.public_key().public_bytes_raw())

    @property
    def kid(self) -> str:
        return self.public.kid

    @property
    def jwk(self) -> dict[str, str]:
        return self.public.jwk

    def sign(self, message: bytes) -> bytes:
        return self._key.sign(message)

    def private_jwk(self) -> dict[str, str]:
        return {**self.jwk, "d": to_base64url(self._key.private_bytes_raw())}

    def __repr__(self) -> str:
        return f"PrivateKey(kid={self.kid!r})"


def generate_key() -> PrivateKey:
    return PrivateKey(Ed25519PrivateKey.generate())


def private_key_from_seed(seed: bytes) -> PrivateKey:
    return PrivateKey(Ed25519PrivateKey.from_private_bytes(seed))


def private_key_from_jwk(jwk: Any) -> PrivateKey:
    """Rejects a key whose two halves do not match."""
    if not isinstance(jwk, dict) or not isinstance(jwk.get("d"), str):
        raise WaybillError(
            400, "This is not a private key: it must be a JWK with kty OKP, crv Ed25519, x and d."
        )
    seed = from_base64url(jwk["d"])
    if len(seed) != 32:
        raise WaybillError(400, "The `d` of an Ed25519 key must have 32 bytes.")
    key = private_key_from_seed(seed)
    if jwk.get("x") not in (None, key.public.x):
        raise WaybillError(
            401,
            "The x and d of this private JWK do not belong together: the file mixes two keys. Restore it from a copy.",
        )
    return key


def load_key(path: str | os.PathLike[str]) -> PrivateKey:
    """The agent's key from a file; if there is none, a new one is created, readable by its owner
    only.

    `Agent` does this itself if no key is given; use this for a key in another place. A file that
    others may read is refused: whoever reads it can sign as this agent.
    """
    file = Path(path)
    try:
        return key_at(file)
    except OSError as error:
        raise WaybillError(
            500,
            f"The key file {file} could not be read or created: {error}. Check that its folder exists and is writable.",
            cause=error,
        ) from error


def key_at(
    file: Path, *, is_no_link: bool = False, prepare: Callable[[], None] = lambda: None
) -> PrivateKey:
    """`is_no_link` refuses a symbolic link, which in a default place may have been planted by
    somebody else. `prepare` is called before a new key is written."""
    try:
        return _read_key(file, is_no_link)
    except FileNotFoundError:
        pass
    prepare()
    key = generate_key()
    draft = file.with_name(f"{file.name}.{key.kid}")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(handle, (json.dumps(key.private_jwk()) + "\n").encode("ascii"))
            os.fsync(handle)
        finally:
            os.close(handle)
        # Fails if another process was first: then its key is used, and nobody reads a partial one.
        os.link(draft, file)
    except FileExistsError:
        pass
    finally:
        draft.unlink(missing_ok=True)
    sync_folder(file.parent)
    return _read_key(file, is_no_link)


def sync_folder(folder: Path) -> None:
    """Returns when the names in a folder are on disk. Until then a power loss can remove even a
    file that was synced."""
    # Windows can't open folders, and syncs names itself.
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def linked(path: Path) -> WaybillError:
    """The error for a link in the place of a file or folder of this application."""
    return WaybillError(
        401,
        f"{path} is a symbolic link, so it may lead to a place that somebody else can read or change: no key "
        "is stored there. Remove it, or name another folder in WAYBILL_KEYS.",
    )


def _read_key(file: Path, is_no_link: bool) -> PrivateKey:
    # Windows has no such flag, and its links require a privilege.
    no_follow = getattr(os, "O_NOFOLLOW", 0) if is_no_link else 0
    try:
        descriptor = os.open(file, os.O_RDONLY | no_follow)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise linked(file) from error
        raise
    with os.fdopen(descriptor, "rb") as handle:
        mode = stat.S_IMODE(os.fstat(handle.fileno()).st_mode)
        if os.name == "posix" and mode & _OTHERS:
            raise WaybillError(
                401,
                f"The key file {file} can be read by others (mode {mode:o}): whoever reads it can sign as this "
                f"agent. Run: chmod 600 {file}, and replace the key if others had access.",
            )
        text = handle.read()
    try:
        jwk = json.loads(text)
    except ValueError:
        # The content is left out: it may be the secret.
        raise WaybillError(
            400,
            f"The key file {file} is not JSON. Restore it from a copy, or delete it to make a new key.",
        ) from None
    return private_key_from_jwk(jwk)
