"""The cost of checking values, and the budget that pays for it (WB-69, WB-92, WB-93)."""

from __future__ import annotations

import random
from typing import Any

import pytest

from waybill_sdk.protocol.discovery import Candidate, find
from waybill_sdk.protocol.error import WaybillError
from waybill_sdk.protocol.limits import CHECK_STEPS
from waybill_sdk.protocol.manifest_shape import read_manifest
from waybill_sdk.protocol.pattern import Budget
from waybill_sdk.protocol.schema import CompiledSchema, compile_schema

DIALECT = "https://json-schema.org/draft/2020-12/schema"
NOISE = "".join(random.Random(1).choices("ab", k=20_000))
COSTLY = "^(a|b)*a(a|b){900}$"


def schema(**members: Any) -> CompiledSchema:
    return compile_schema({"$schema": DIALECT, **members})


def steps_of(compiled: CompiledSchema, value: Any) -> int:
    budget = Budget(CHECK_STEPS)
    compiled.check(value, budget)
    return CHECK_STEPS - budget.left


def status_of(compiled: CompiledSchema, value: Any, budget: Budget | None = None) -> int | None:
    try:
        compiled.check(value, budget)
    except WaybillError as error:
        return error.status
    return None


@pytest.mark.parametrize(
    ("compiled", "value"),
    [
        (schema(items={"type": "integer"}), lambda n: [1] * n),
        (schema(items={"enum": list(range(100))}), lambda n: [1] * n),
        (schema(items={"const": [[1, 2]]}), lambda n: [[[1, 2]]] * n),
        (schema(items={"multipleOf": 0.01}), lambda n: [0.5] * n),
        (schema(uniqueItems=True), lambda n: list(range(n))),
        (schema(uniqueItems=True), lambda n: [{"a": [each]} for each in range(n)]),
        (schema(contains={"type": "string"}, minContains=0), lambda n: [1] * n),
        (schema(additionalProperties=True), lambda n: {f"m{each}": 1 for each in range(n)}),
        (schema(patternProperties={"^m": True}), lambda n: {f"m{each}": 1 for each in range(n)}),
        (schema(propertyNames={"minLength": 1}), lambda n: {f"m{each}": 1 for each in range(n)}),
        (schema(unevaluatedProperties=True), lambda n: {f"m{each}": 1 for each in range(n)}),
        (schema(items={"required": ["a"] * 100}), lambda n: [{"a": 1}] * n),
        (schema(pattern="^[a-z]*$"), lambda n: "x" * 10 * n),
        (schema(pattern=COSTLY), lambda n: NOISE[:n]),
    ],
)
def test_steps_grow_with_the_work(compiled: CompiledSchema, value: Any) -> None:
    assert steps_of(compiled, value(2_000)) > 1.8 * steps_of(compiled, value(1_000))


def test_a_check_is_bounded_and_leaves_room_for_ordinary_values() -> None:
    assert status_of(schema(pattern=COSTLY), NOISE, Budget(CHECK_STEPS // 10)) == 413
    row = {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "tags": {"uniqueItems": True}},
    }
    rows = [{"id": each, "tags": ["a", "b"]} for each in range(20_000)]
    assert schema(items=row).check(rows) == []
    assert schema(pattern="^(?:[0-9a-zA-Z+/]{4})*$").check("QUJD" * 250_000) == []


def test_multiple_of_handles_numbers_of_very_different_size() -> None:
    assert schema(multipleOf=3e-300).check(9e300) == []
    assert schema(multipleOf=0.1).check(0.3) == []
    assert [each.keyword for each in schema(multipleOf=7e-300).check(1e300)] == ["multipleOf"]


def test_a_budget_pays_for_several_checks_and_is_then_used_up() -> None:
    compiled, budget = schema(items={"type": "integer"}), Budget(5_000)
    compiled.check([1] * 100, budget)
    first = 5_000 - budget.left
    compiled.check([1] * 100, budget)
    assert (budget.left, first > 100) == (5_000 - 2 * first, True)
    assert status_of(compiled, [1] * 10_000, budget) == 413
    assert budget.left == 0
    assert status_of(compiled, [], budget) == 413


def test_the_faults_of_a_large_value_are_few_and_short() -> None:
    compiled = schema(additionalProperties={"items": {"type": "string"}})
    issues = compiled.check({"n" * 100_000: [1] * 10_000})
    assert len(issues) == 20
    assert all(len(each.at) < 200 for each in issues)


QUERY = {"capability": "search", "input": NOISE}


class TestOneQuery:
    def candidate(self, agent: str, input_schema: Any) -> Candidate:
        marked = {"$schema": DIALECT, **input_schema}
        return Candidate(agent, {"name": "search", "input_schema": marked}, True)

    def test_has_one_budget_and_reports_agents_that_were_not_checked(self) -> None:
        hostile = [
            self.candidate(f"a{each}", {"pattern": COSTLY, "title": str(each)})
            for each in range(50)
        ]
        honest = self.candidate("z", {"type": "string"})
        budget = Budget(300_000)
        found = find(QUERY, [*hostile, honest], budget)
        assert [each.agent_id for each in found.fits] == ["z"]
        assert budget.left <= 0
        assert "budget is used up" in found.left_out["a49"][0]

    def test_pays_once_for_a_schema_that_many_agents_share(self) -> None:
        one, many = Budget(1_000_000), Budget(1_000_000)
        alike = [self.candidate(f"a{each}", {"pattern": "^[ab]*$"}) for each in range(50)]
        assert len(find(QUERY, alike[:1], one).fits) == 1
        assert len(find(QUERY, alike, many).fits) == 50
        assert many.left == one.left


@pytest.mark.parametrize(
    ("count", "members", "reason"),
    [
        (3, lambda _: {"anyOf": [True] * 9_000}, "schemas"),
        (30, lambda each: {"pattern": f"^(a{{900}}){{5}}{each}"}, "pattern states"),
        (4, lambda _: {"enum": [1] * 90_000}, "characters"),
    ],
)
def test_the_schemas_of_one_manifest_are_bounded_together(
    count: int, members: Any, reason: str
) -> None:
    capabilities = [
        {"name": f"c{each}", "input_schema": {"$schema": DIALECT, **members(each)}}
        for each in range(count)
    ]
    assert len(read_manifest({"agent_id": "a", "capabilities": capabilities[:1]})) > 0
    with pytest.raises(WaybillError, match=reason) as refused:
        read_manifest({"agent_id": "a", "capabilities": capabilities})
    assert refused.value.status == 413
