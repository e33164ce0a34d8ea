"""The published files: the wheel that is installed here, and the sdist that was built with it."""

import tarfile
import zipfile
from importlib.metadata import metadata
from pathlib import Path

FOLDER = Path(__file__).parents[1]
LICENSE = (FOLDER / "LICENSE").read_bytes()


def test_the_wheel_contains_the_licence() -> None:
    [wheel] = (FOLDER / "dist").glob("waybill_sdk-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        [name] = [each for each in archive.namelist() if each.endswith("/licenses/LICENSE")]
        assert archive.read(name) == LICENSE


def test_the_sdist_contains_the_licence_the_readme_and_the_changelog() -> None:
    [sdist] = (FOLDER / "dist").glob("waybill_sdk-*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert {"LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml"} <= names


def test_the_licence_is_that_of_the_project() -> None:
    assert (FOLDER / "../../LICENSE").read_bytes() == LICENSE


def test_the_metadata_links_to_the_project() -> None:
    found = metadata("waybill-sdk")
    assert found["Keywords"]
    assert found["License-Expression"] == "Apache-2.0"
    links = {line.split(",")[0] for line in found.get_all("Project-URL") or []}
    assert links == {"Homepage", "Repository", "Issues", "Changelog"}
