"""The authors of messages, and the task of a conversation: the same vectors as in TypeScript."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from processes import ROOT

from waybill_sdk import WaybillError
from waybill_sdk.adapter.as_data import result_as_data
from waybill_sdk.adapter.speech import history_from, line_of, replies_of
from waybill_sdk.adapter.stated import stated_in
from waybill_sdk.adapter.words import words_of_result

VECTORS = ROOT / "packages" / "agent" / "vectors"
SPEECH = json.loads((VECTORS / "speech.json").read_text("utf-8"))
STATED = json.loads((VECTORS / "stated.json").read_text("utf-8"))


def named(case: dict[str, Any]) -> str:
    return str(case["name"])


@pytest.mark.parametrize("case", SPEECH["replies"], ids=named)
def test_a_result(case: dict[str, Any]) -> None:
    result: Any = SimpleNamespace(**{"output": None, **case["result"]})
    assert replies_of(result, case["as"]) == case["expect"]


@pytest.mark.parametrize("case", SPEECH["histories"], ids=named)
def test_a_history(case: dict[str, Any]) -> None:
    assert history_from(case["messages"], case["by"], case["names"]) == case["expect"]
    assert history_from(case["expect"], case["by"], case["names"]) == case["expect"]


@pytest.mark.parametrize("case", SPEECH["refused"], ids=named)
@pytest.mark.parametrize("role", ["user", "assistant", "system", "tool"])
def test_a_file_in_an_account_with_a_models_host_is_refused(
    case: dict[str, Any], role: str
) -> None:
    with pytest.raises(WaybillError, match="model provider's storage") as refused:
        history_from([{"role": role, "content": [case["part"]]}], "owner")
    assert refused.value.status == 422


@pytest.mark.parametrize("case", SPEECH["lines"], ids=named)
def test_a_line(case: dict[str, Any]) -> None:
    assert line_of(case["message"]) == case["expect"]


@pytest.mark.parametrize("case", SPEECH["words"], ids=named)
def test_a_result_in_words(case: dict[str, Any]) -> None:
    result: Any = SimpleNamespace(**{"output": None, **case["result"]})
    assert words_of_result(result) == case["expect"]


@pytest.mark.parametrize("case", SPEECH["data"], ids=named)
def test_a_result_as_data(case: dict[str, Any]) -> None:
    result: Any = SimpleNamespace(**{"artifacts": [], **case["result"]})
    assert result_as_data(result) == case["expect"]


@pytest.mark.parametrize("case", STATED, ids=named)
def test_the_task(case: dict[str, Any]) -> None:
    stated = stated_in(case["messages"])
    expected = case["expect"]
    assert (stated.task, stated.before, stated.since) == (
        expected["task"],
        expected["before"],
        expected["since"],
    )
