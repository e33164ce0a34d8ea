"""The key that an application keeps for an agent without a given key."""

from __future__ import annotations

import stat
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pytest
from processes import Place

from waybill_sdk import (
    Agent,
    WaybillError,
    connect,
    generate_key,
    proven_recovery_key,
    sign_recovery,
)
from waybill_sdk.own_key import own_key
from waybill_sdk.protocol.json_text import parse_json
from waybill_sdk.protocol.jws import digest_of_jws, read_compact
from waybill_sdk.protocol.manifest import sign_manifest


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("WAYBILL_KEYS", raising=False)
    return tmp_path.resolve()


def runs(monkeypatch: pytest.MonkeyPatch, script: Path) -> None:
    """As if this script had been started."""
    script.parent.mkdir(parents=True, exist_ok=True)
    script.touch()
    main = ModuleType("__main__")
    main.__file__ = str(script)
    monkeypatch.setitem(sys.modules, "__main__", main)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_is_stored_beside_the_project_readable_by_its_owner_only(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "pyproject.toml").touch()
    runs(monkeypatch, folder / "src" / "agents" / "main.py")
    key, path = own_key("anna", "domain")
    assert path == folder / ".waybill/keys/domain/anna.key"
    again, _ = own_key("anna", "domain")
    assert again.kid == key.kid
    for made in (".waybill", ".waybill/keys", ".waybill/keys/domain"):
        assert mode(folder / made) == 0o700
    assert mode(path) == 0o600
    assert (folder / ".waybill/keys/.gitignore").read_text() == "*\n"


def test_each_agent_has_a_key_for_each_hub(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs(monkeypatch, folder / "main.py")
    of = [("anna", "domain"), ("bert", "domain"), ("anna", "other")]
    assert len({own_key(*each)[0].kid for each in of}) == 3


def test_is_found_however_the_application_is_started(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "package.json").write_text('{"name": "app"}')
    (folder / "part").mkdir()
    (folder / "part" / "package.json").write_text("{}")
    runs(monkeypatch, folder / "part" / "main.py")
    assert own_key("anna", "domain")[1].is_relative_to(folder / ".waybill")

    runs(monkeypatch, folder / "plain" / "site-packages" / "runner" / "__main__.py")
    work = folder / "work"
    work.mkdir()
    (work / "pyproject.toml").touch()
    monkeypatch.chdir(work)
    assert own_key("anna", "domain")[1].is_relative_to(work / ".waybill")


def test_a_setting_names_another_folder_which_may_be_a_link(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "secrets").mkdir()
    (folder / "link").symlink_to(folder / "secrets")
    monkeypatch.setenv("WAYBILL_KEYS", str(folder / "link"))
    assert own_key("anna", "domain")[1] == folder / "link/domain/anna.key"
    monkeypatch.setenv("WAYBILL_KEYS", str(folder / "new" / "keys"))
    assert own_key("anna", "domain")[1] == folder / "new/keys/domain/anna.key"


@pytest.mark.parametrize("link", [".waybill", ".waybill/keys", ".waybill/keys/domain"])
def test_is_not_stored_behind_a_link_in_a_default_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch, link: str
) -> None:
    runs(monkeypatch, folder / "main.py")
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    (folder / link).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    (folder / link).symlink_to(elsewhere)
    with pytest.raises(WaybillError, match="is a symbolic link") as caught:
        own_key("anna", "domain")
    assert caught.value.status == 401


def test_is_not_read_through_a_link(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs(monkeypatch, folder / "main.py")
    _, path = own_key("anna", "domain")
    path.unlink()
    path.symlink_to(own_key("bert", "domain")[1])
    with pytest.raises(WaybillError, match="is a symbolic link"):
        own_key("anna", "domain")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
def test_is_not_stored_where_others_can_write(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs(monkeypatch, folder / "main.py")
    own_key("anna", "domain")
    (folder / ".waybill/keys").chmod(0o770)
    with pytest.raises(WaybillError, match="chmod 700") as caught:
        own_key("anna", "domain")
    assert caught.value.status == 401


def test_the_error_for_a_folder_that_can_not_be_created_says_what_to_do(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "file").touch()
    monkeypatch.setenv("WAYBILL_KEYS", str(folder / "file" / "keys"))
    with pytest.raises(WaybillError, match="WAYBILL_KEYS, or pass a key to Agent"):
        own_key("anna", "domain")


async def test_the_error_for_a_lost_key_says_where_it_was_looked_for(
    place: Place, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAYBILL_KEYS", str(folder))
    async with await connect(place.url) as hub:
        for _ in range(2):
            agent = Agent("keeper", hub=hub)
            agent.serve("greet", lambda _: "hello")
            async with agent:
                handle = agent.hand_off("greet", to="keeper")
                assert (await handle.result()).output == "hello"
        path = folder / hub.domain / "keeper.key"
        path.unlink()
        with pytest.raises(WaybillError) as caught:
            await Agent("keeper", hub=hub).start()
    assert caught.value.status == 401
    assert str(path) in caught.value.message


async def test_an_agent_lists_its_recovery_key_and_keeps_it(place: Place) -> None:
    key, after, offline = generate_key(), generate_key(), generate_key()
    kept = proven_recovery_key("heir", offline)
    async with await connect(place.url) as hub:

        async def run(**over: Any) -> dict[str, Any]:
            async with Agent("heir", hub=hub, **{"key": key, **over}):
                pass
            newest = await hub.newest_manifest("heir")
            return cast(dict[str, Any], parse_json(read_compact(newest or "").payload))

        assert (await run(recovery_key=kept))["keys"] == [key.jwk, kept]
        assert (await run())["sequence"] == 1
        said = await run(manifest={"description": "the same agent"})
        assert (said["keys"], said["sequence"]) == ([key.jwk, kept], 2)
        with pytest.raises(WaybillError, match="waybill agents rotate heir --from-recovery"):
            await run(key=after)
        text = await hub.newest_manifest("heir")
        assert text is not None
        update = sign_recovery(
            {
                "agent_id": "heir",
                "capabilities": [],
                "keys": [after.jwk, kept],
                "sequence": 3,
                "previous": digest_of_jws(text),
            },
            offline,
        )
        await hub.publish("heir", sign_manifest(update, after))
        # Nothing has changed since, so nothing is published.
        assert (await run(key=after))["sequence"] == 3
        with pytest.raises(WaybillError):
            await run()
