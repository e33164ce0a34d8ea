"""Envelopes that share one signature: the tree and its inclusion proofs (WB-22 to WB-25)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from .error import WaybillError

_HEAD = 8 + 64


def leaf_of(kid: str, payload: bytes) -> bytes:
    """The leaf of a JWS, which its digest is made of: the same however it is signed (WB-03)."""
    return hashlib.sha256(b"\0" + kid.encode("ascii") + b"\n" + payload).digest()


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()


def _split(size: int) -> int:
    """The largest power of two smaller than the size."""
    return 1 << (size - 1).bit_length() - 1


def signed_message(size: int, root: bytes) -> bytes:
    return b"waybill batch 1\0" + size.to_bytes(4, "big") + root


def path_length(index: int, size: int) -> int:
    length = 0
    while size > 1:
        half = _split(size)
        index, size = (index, half) if index < half else (index - half, size - half)
        length += 1
    return length


@dataclass(frozen=True)
class BatchPart:
    """The signature part of one envelope of a batch."""

    index: int
    size: int
    signature: bytes
    path: tuple[bytes, ...]

    def root(self, leaf: bytes) -> bytes:
        sides: list[bool] = []
        index, size = self.index, self.size
        while size > 1:
            half = _split(size)
            sides.append(index < half)
            index, size = (index, half) if index < half else (index - half, size - half)
        at = leaf
        for is_left, sibling in zip(reversed(sides), self.path, strict=True):
            at = _node(at, sibling) if is_left else _node(sibling, at)
        return at

    def to_bytes(self) -> bytes:
        return (
            self.index.to_bytes(4, "big")
            + self.size.to_bytes(4, "big")
            + self.signature
            + b"".join(self.path)
        )


def read_batch_part(data: bytes) -> BatchPart:
    if len(data) < _HEAD:
        raise WaybillError(400, "The signature part of a batch is too short.")
    index, size = int.from_bytes(data[:4], "big"), int.from_bytes(data[4:8], "big")
    if index >= size:
        raise WaybillError(400, f"A batch of {size} has no leaf {index}.")
    rest = data[_HEAD:]
    if len(rest) != 32 * path_length(index, size):
        raise WaybillError(
            400, f"The path of leaf {index} in a batch of {size} has another length."
        )
    path = tuple(rest[start : start + 32] for start in range(0, len(rest), 32))
    return BatchPart(index, size, data[8:_HEAD], path)


def tree_of(leaves: Sequence[bytes]) -> tuple[bytes, list[list[bytes]]]:
    """The root, and for each leaf its path from the leaf upwards."""

    def build(start: int, size: int) -> tuple[bytes, list[list[bytes]]]:
        if size == 1:
            return leaves[start], [[]]
        half = _split(size)
        left, left_paths = build(start, half)
        right, right_paths = build(start + half, size - half)
        for path in left_paths:
            path.append(right)
        for path in right_paths:
            path.append(left)
        return _node(left, right), left_paths + right_paths

    return build(0, len(leaves))
