"""The points of edwards25519, as far as the enrolment of a key needs them (WB-15). No secrets are
handled here."""

from __future__ import annotations

from functools import lru_cache

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, P) % P
_ROOT = pow(2, (P - 1) // 4, P)

Point = tuple[int, int, int, int]
IDENTITY: Point = (0, 1, 1, 0)


def _add(a: Point, b: Point) -> Point:
    x1, y1, z1, t1 = a
    x2, y2, z2, t2 = b
    e, f = (y1 - x1) * (y2 - x2) % P, (y1 + x1) * (y2 + x2) % P
    c, d = 2 * _D * t1 * t2 % P, 2 * z1 * z2 % P
    g, h, i, j = f - e, d - c, d + c, f + e
    return g * h % P, i * j % P, h * i % P, g * j % P


def _times(scalar: int, point: Point) -> Point:
    total = IDENTITY
    while scalar > 0:
        if scalar & 1:
            total = _add(total, point)
        point = _add(point, point)
        scalar >>= 1
    return total


def _is_identity(point: Point) -> bool:
    x, y, z, _ = point
    return x % P == 0 and (y - z) % P == 0


def decode(data: bytes) -> Point | None:
    """The point of which these bytes are the canonical encoding."""
    number = int.from_bytes(data, "little")
    sign, y = number >> 255, number & (1 << 255) - 1
    if len(data) != 32 or y >= P:
        return None
    u, v = (y * y - 1) % P, (_D * y * y + 1) % P
    x = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    if (v * x * x - u) % P != 0:
        x = x * _ROOT % P
    if (v * x * x - u) % P != 0 or (x == 0 and sign == 1):
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


@lru_cache(maxsize=10_000)
def is_sound_key(data: bytes) -> bool:
    """Canonical, on the curve, not of small order and without a torsion component."""
    point = decode(data)
    if point is None or _is_identity(_times(8, point)):
        return False
    return _is_identity(_times(L, point))


def _small_order_encodings() -> frozenset[bytes]:
    """Every encoding, canonical or not, of the eight points whose order divides 8."""
    ys: set[int] = {0, 1, P - 1}
    for text in (
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    ):
        ys.add(int.from_bytes(bytes.fromhex(text), "little"))
    spelled = [y + extra for y in ys for extra in (0, P) if y + extra < 1 << 255]
    return frozenset((y | sign << 255).to_bytes(32, "little") for y in spelled for sign in (0, 1))


SMALL_ORDER = _small_order_encodings()
