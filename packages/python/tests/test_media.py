from __future__ import annotations

import base64

import pytest

from waybill_sdk import WaybillError
from waybill_sdk.adapter.media import data_uri_of, media_from, media_in, unshowable

OCTETS = bytes([255, 239])
URI = f"data:image/png;base64,{base64.b64encode(OCTETS).decode()}"
IMAGE = {"type": "image", "media_type": "image/png", "data": "_-8"}


def test_data_uris_and_parts_convert_both_ways_in_either_alphabet() -> None:
    assert media_from("image", URI) == IMAGE
    assert data_uri_of(IMAGE) == URI


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image", "data": "AAAA"},
        {"type": "audio", "media_type": "audio/wav"},
        {"type": "file", "media_type": "text/csv", "data": "AAAA", "url": "https://x.example"},
    ],
)
def test_an_unreadable_part_is_refused_and_not_dropped(part: dict[str, str]) -> None:
    with pytest.raises(WaybillError, match="can't be read") as refused:
        media_in({"role": "user", "content": [part]})
    assert refused.value.status == 422


def test_a_refusal_names_the_part_and_the_reason() -> None:
    error = unshowable({**IMAGE, "name": "pixel.png"}, "the model takes words alone")
    assert error.status == 422
    assert "pixel.png of the type image/png" in error.message
    assert "the model takes words alone" in error.message
