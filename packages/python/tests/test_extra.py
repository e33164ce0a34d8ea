"""The error if a framework is missing, or installed in an unsupported version."""

import subprocess
import sys
from pathlib import Path

import pytest

AUTOGEN = 'Install a version that fits: pip install "waybill-sdk[autogen]"'
AG2 = 'Install a version that fits: pip install "waybill-sdk[ag2]"'
CREWAI = 'Install a version that fits: pip install "waybill-sdk[crewai]"'


def imported(module: str, folder: Path, **versions: str) -> str:
    """The output of an import with these versions installed, of which only the metadata exists."""
    for name, version in versions.items():
        place = folder / f"{name}-{version}.dist-info"
        place.mkdir()
        name = name.replace("_", "-")
        (place / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); import {module}"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stderr


def test_a_missing_framework_is_named_with_the_extra_that_installs_it(tmp_path: Path) -> None:
    said = imported("waybill_sdk.autogen", tmp_path)
    assert "waybill_sdk.autogen needs autogen-agentchat" in said
    assert f"and it is not installed. {AUTOGEN}" in said


@pytest.mark.parametrize("version", ["0.6.4", "0.8.0", "1.0"])
def test_an_unsupported_version_of_autogen_is_named(tmp_path: Path, version: str) -> None:
    said = imported(
        "waybill_sdk.autogen", tmp_path, autogen_agentchat=version, autogen_core=version
    )
    assert f"and {version} is installed. {AUTOGEN}" in said


@pytest.mark.parametrize("version", ["0.14.0", "1.2.0", "1.3.0"])
def test_an_unsupported_version_of_ag2_is_named(tmp_path: Path, version: str) -> None:
    assert f"and {version} is installed. {AG2}" in imported(
        "waybill_sdk.ag2", tmp_path, ag2=version
    )


@pytest.mark.parametrize("version", ["1.15.16", "1.9.3", "1.16.0", "2.0.0"])
def test_an_unsupported_version_of_crewai_is_named(tmp_path: Path, version: str) -> None:
    assert f"and {version} is installed. {CREWAI}" in imported(
        "waybill_sdk.crewai", tmp_path, crewai=version
    )


@pytest.mark.parametrize("version", ["1.15.17", "1.15.30"])
def test_a_supported_version_is_imported(tmp_path: Path, version: str) -> None:
    said = imported("waybill_sdk.crewai", tmp_path, crewai=version)
    assert "waybill-sdk[" not in said
    # Only its metadata exists.
    assert "No module named 'crewai'" in said
