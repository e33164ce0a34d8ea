"""What is said where a framework is missing, or there in a version that does not fit."""

import subprocess
import sys
from pathlib import Path

import pytest

AUTOGEN = 'Install a version that fits: pip install "waybill-sdk[autogen]"'
AG2 = 'Install a version that fits: pip install "waybill-sdk[ag2]"'
CREWAI = 'Install a version that fits: pip install "waybill-sdk[crewai]"'


def imported(module: str, folder: Path, **versions: str) -> str:
    """What an import says where these versions are installed, and nothing of them but their metadata."""
    for name, version in versions.items():
        place = folder / f"{name}-{version}.dist-info"
        place.mkdir()
        name = name.replace("_", "-")
        (place / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); import {module}"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stderr


def test_a_framework_that_is_missing_is_named_with_what_installs_it(tmp_path: Path) -> None:
    said = imported("waybill_sdk.autogen", tmp_path)
    assert "waybill_sdk.autogen needs autogen-agentchat" in said
    assert f"and it is not installed. {AUTOGEN}" in said


@pytest.mark.parametrize("version", ["0.6.4", "0.8.0", "1.0"])
def test_a_version_of_autogen_that_does_not_fit_is_named(tmp_path: Path, version: str) -> None:
    said = imported(
        "waybill_sdk.autogen", tmp_path, autogen_agentchat=version, autogen_core=version
    )
    assert f"and {version} is installed. {AUTOGEN}" in said


@pytest.mark.parametrize("version", ["0.14.0", "1.2.0", "1.3.0"])
def test_a_version_of_ag2_that_does_not_fit_is_named(tmp_path: Path, version: str) -> None:
    assert f"and {version} is installed. {AG2}" in imported(
        "waybill_sdk.ag2", tmp_path, ag2=version
    )


@pytest.mark.parametrize("version", ["1.15.16", "1.9.3", "1.16.0", "2.0.0"])
def test_a_version_of_crewai_that_does_not_fit_is_named(tmp_path: Path, version: str) -> None:
    assert f"and {version} is installed. {CREWAI}" in imported(
        "waybill_sdk.crewai", tmp_path, crewai=version
    )


@pytest.mark.parametrize("version", ["1.15.17", "1.15.30"])
def test_a_version_that_fits_is_imported(tmp_path: Path, version: str) -> None:
    said = imported("waybill_sdk.crewai", tmp_path, crewai=version)
    assert "waybill-sdk[" not in said
    # Nothing but its metadata is there.
    assert "No module named 'crewai'" in said
