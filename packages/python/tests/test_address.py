"""The addresses that are accepted for a hub."""

from __future__ import annotations

import pytest

from waybill_sdk import WaybillError, connect


@pytest.mark.parametrize(
    "given",
    [
        "",
        "hub.example",
        "localhost:7411",
        "ws://hub.example",
        "ftp://hub.example",
        "http://user@hub.example",
        "http://user:secret@hub.example",
        "http://hub.example/?a=1",
    ],
)
async def test_an_invalid_address_is_refused_with_an_example(given: str) -> None:
    with pytest.raises(WaybillError, match=r'for example "http://127.0.0.1:7411"') as caught:
        await connect(given)
    assert (caught.value.status, caught.value.at) == (400, "/url")
    assert "secret" not in caught.value.message
