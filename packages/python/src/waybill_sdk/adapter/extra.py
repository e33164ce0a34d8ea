"""The frameworks of this distribution's extras, in their supported versions."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires, version

_REQUIREMENT = re.compile(r"""^([A-Za-z0-9._-]+)\s*([^;]*);\s*extra\s*==\s*["']([^"']+)["']$""")
_BOUND = re.compile(r"(>=|<)\s*([0-9.]+)")


def require_extra(extra: str) -> None:
    """Raises an ImportError that says what to install if a framework is missing or unsupported."""
    for line in requires("waybill-sdk") or []:
        found = _REQUIREMENT.match(line)
        if found is None or found[3] != extra:
            continue
        name, wanted = found[1], found[2].strip()
        try:
            installed = version(name)
        except PackageNotFoundError:
            raise _refused(extra, name, wanted, "it is not installed") from None
        if not _fits(installed, wanted):
            raise _refused(extra, name, wanted, f"{installed} is installed")


def _fits(installed: str, wanted: str) -> bool:
    have = _release(installed)
    return all(
        have >= _release(bound) if operator == ">=" else have < _release(bound)
        for operator, bound in _BOUND.findall(wanted)
    )


def _release(text: str) -> list[int]:
    """1.15.17rc1 is 1.15.17 here, and 0.7 is 0.7.0."""
    parts = [int(part) for part in re.findall(r"\d+", re.split(r"[^0-9.]", text)[0])]
    return [*parts, 0, 0, 0][:3]


def _refused(extra: str, name: str, wanted: str, instead: str) -> ImportError:
    return ImportError(
        f"waybill_sdk.{extra} needs {name} {wanted}, and {instead}. "
        f'Install a version that fits: pip install "waybill-sdk[{extra}]"'
    )
