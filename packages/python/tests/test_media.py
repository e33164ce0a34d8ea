from __future__ import annotations

import base64

import pytest

from waybill_sdk import WaybillError
from waybill_sdk.adapter.media import data_uri_of, media_from, media_in, refuse_media

OCTETS = bytes([255, 239])
URI = f"data:image/png;base64,{base64.b64encode(OCTETS).decode()}"
IMAGE = {"type": "image", "media_type": "image/png", "data": "_-8"}


def test_a_data_uri_and_a_part_are_each_other_whatever_the_alphabet() -> None:
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
def test_a_part_that_cannot_be_read_is_refused_and_not_left_out(part: dict[str, str]) -> None:
    with pytest.raises(WaybillError, match="this one can't be read") as refused:
        media_in({"role": "user", "content": [part]})
    assert refused.value.status == 422


def test_a_framework_of_words_refuses_an_image_and_says_what_it_is() -> None:
    words = {"role": "user", "content": [{"type": "text", "text": "Look."}]}
    refuse_media([words], "it has words alone")
    with pytest.raises(WaybillError, match=r"image/png.*it has words alone") as refused:
        refuse_media([words, {"role": "user", "content": [IMAGE]}], "it has words alone")
    assert refused.value.status == 422
