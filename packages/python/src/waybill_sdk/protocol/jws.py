"""Signatures on the wire: a JWS in compact form (WB-18 to WB-25)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from .batch import BatchPart, leaf_of, read_batch_part, signed_message, tree_of
from .encoding import from_base64url, to_base64url
from .error import WaybillError
from .key import PrivateKey, PublicKey
from .limits import ENVELOPE_BYTES

_HEADER = re.compile(
    rb'\{"alg":"(Ed25519|Ed25519-batch)","kid":"([A-Za-z0-9_-]{43})","typ":"waybill\+jws"\}'
)
_ROOTS_KEPT = 4_096


@dataclass(frozen=True)
class Compact:
    """The parts of a JWS. None of it is trusted before `verify` has returned."""

    text: str
    kid: str
    signing_input: bytes
    payload: bytes
    signature: bytes
    batch: BatchPart | None

    @cached_property
    def leaf(self) -> bytes:
        return leaf_of(self.kid, self.payload)

    @property
    def digest(self) -> str:
        """Of its key and its payload: the same whether it is signed alone or with others (WB-03)."""
        return f"sha256:{self.leaf.hex()}"


class Roots:
    """Roots whose signatures were verified, each with its signature, key and size."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int, bytes, bytes], None] = {}

    def has(self, kid: str, part: BatchPart, root: bytes) -> bool:
        return (kid, part.size, root, part.signature) in self._known

    def add(self, kid: str, part: BatchPart, root: bytes) -> None:
        if len(self._known) >= _ROOTS_KEPT:
            del self._known[next(iter(self._known))]
        self._known[(kid, part.size, root, part.signature)] = None


def read_compact(text: str) -> Compact:
    size = len(text)
    if size <= ENVELOPE_BYTES and not text.isascii():
        size = len(text.encode("utf-8", "surrogatepass"))
    if size > ENVELOPE_BYTES:
        raise WaybillError(
            413,
            f"An envelope may have at most {ENVELOPE_BYTES} bytes; pass large content as an artifact by URL.",
        )
    if text.count(".") != 2:
        raise WaybillError(
            400, "An envelope must be a JWS in compact form: header.payload.signature."
        )
    head, body, tail = text.split(".")
    found = _HEADER.fullmatch(from_base64url(head))
    if found is None:
        raise WaybillError(
            400,
            "The header is neither of the two allowed ones; a kid must have 43 characters of base64url.",
        )
    algorithm, kid = (group.decode("ascii") for group in found.groups())
    from_base64url(kid)
    payload, signature = from_base64url(body), from_base64url(tail)
    batch = read_batch_part(signature) if algorithm == "Ed25519-batch" else None
    if batch is None and len(signature) != 64:
        raise WaybillError(400, "An Ed25519 signature must have 64 bytes.")
    return Compact(text, kid, f"{head}.{body}".encode("ascii"), payload, signature, batch)


def digest_of_jws(text: str) -> str:
    """The digest of an envelope or a manifest. Its signature is not verified."""
    return read_compact(text).digest


def verify(compact: Compact, key: PublicKey, roots: Roots | None = None) -> None:
    """Rejects with 401 what this key has not signed."""
    part = compact.batch
    if part is None:
        is_signed = key.verifies(compact.signature, compact.signing_input)
    else:
        root = part.root(compact.leaf)
        is_signed = roots is not None and roots.has(compact.kid, part, root)
        if not is_signed:
            is_signed = key.verifies(part.signature, signed_message(part.size, root))
            if is_signed and roots is not None:
                roots.add(compact.kid, part, root)
    if not is_signed:
        raise WaybillError(
            401,
            f"The signature was not made with the key {compact.kid}: the envelope was altered, or signed with another key.",
        )


def sign(payload: str, key: PrivateKey) -> str:
    signing_input = f"{_header('Ed25519', key)}.{to_base64url(payload.encode('utf-8'))}"
    return f"{signing_input}.{to_base64url(key.sign(signing_input.encode('ascii')))}"


def sign_batch(payloads: Sequence[str], key: PrivateKey) -> list[str]:
    """Signs several payloads with one signature. A single one is signed alone (WB-24)."""
    if len(payloads) < 2:
        return [sign(payload, key) for payload in payloads]
    header = _header("Ed25519-batch", key)
    inputs = [f"{header}.{to_base64url(payload.encode('utf-8'))}" for payload in payloads]
    root, paths = tree_of([leaf_of(key.kid, payload.encode("utf-8")) for payload in payloads])
    signature = key.sign(signed_message(len(inputs), root))
    return [
        f"{each}.{to_base64url(BatchPart(index, len(inputs), signature, tuple(path)).to_bytes())}"
        for index, (each, path) in enumerate(zip(inputs, paths, strict=True))
    ]


def _header(algorithm: str, key: PrivateKey) -> str:
    return to_base64url(
        f'{{"alg":"{algorithm}","kid":"{key.kid}","typ":"waybill+jws"}}'.encode("ascii")
    )
