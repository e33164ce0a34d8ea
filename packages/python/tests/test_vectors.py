"""Every vector of the specification, byte for byte, with this package's own code."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest
from vectors import SPEC, cases, holds, text_of

from waybill_sdk.protocol import tracing
from waybill_sdk.protocol.blob import check_blob
from waybill_sdk.protocol.contract import judge_counter, judge_offer
from waybill_sdk.protocol.discovery import Candidate, Ejection, find, judge_input, queue_place
from waybill_sdk.protocol.encoding import digest_of
from waybill_sdk.protocol.envelope import KeyRecord, present, verify_envelope
from waybill_sdk.protocol.error import WaybillError
from waybill_sdk.protocol.frame import check_delivery, is_next_delta, read_frames
from waybill_sdk.protocol.history import check_history
from waybill_sdk.protocol.ids import id_time, is_agent_id, is_id
from waybill_sdk.protocol.instant import now_ms, parse_time
from waybill_sdk.protocol.invitation import check_enrolment
from waybill_sdk.protocol.json_text import parse_json
from waybill_sdk.protocol.jws import Roots, digest_of_jws
from waybill_sdk.protocol.key import enrol, public_key_from_bytes
from waybill_sdk.protocol.lifecycle import step
from waybill_sdk.protocol.lifecycle_event import event_of
from waybill_sdk.protocol.manifest import (
    VerifiedManifest,
    check_chain,
    check_domain,
    keyring,
    verify_manifest,
)
from waybill_sdk.protocol.manifest_shape import read_capability, read_manifest
from waybill_sdk.protocol.pattern import Budget
from waybill_sdk.protocol.problem import error_of_response
from waybill_sdk.protocol.proof import (
    check_hello,
    check_operator_request,
    check_request,
    sign_operator_request,
)
from waybill_sdk.protocol.schema import compile_schema
from waybill_sdk.protocol.session import session_found, session_key
from waybill_sdk.protocol.takes_from import principal_of, takes_from
from waybill_sdk.protocol.trust import TrustPolicy
from waybill_sdk.protocol.usage import Usage, merge_usage, sum_usage

Case = dict[str, Any]
Outcome = dict[str, Any]


def outcome(work: Callable[[], Outcome]) -> Outcome:
    try:
        return {"status": "ok", **work()}
    except WaybillError as error:
        return {"status": error.status, "at": error.at or ""}


def refuse(is_wrong: bool) -> None:
    if is_wrong:
        raise WaybillError(400, "refused")


def key_of(ring: dict[str, Any]) -> Callable[[str], KeyRecord | None]:
    records: dict[str, KeyRecord] = {}
    for kid, entry in ring.items():
        try:
            key = enrol(entry["jwk"])
        except WaybillError:
            continue
        records[kid] = KeyRecord(
            entry["agent"],
            key,
            entry.get("not_before"),
            entry.get("not_after"),
            entry.get("retired_at"),
        )
    return records.get


def read(text: str, given: Case, roots: Roots | None = None) -> Outcome:
    verified = verify_envelope(
        text,
        key_of=key_of(given["keyring"]),
        at=given["at"],
        to=given.get("to"),
        domain=given.get("domain"),
        roots=roots,
    )
    assert verified.text == text
    event = event_of(verified.envelope, verified.digest, given["at"])
    event = None if event is None else {name: each for name, each in event.items() if name != "at"}
    return {"digest": verified.digest, "payload": verified.envelope, "event": event}


def run_envelope(given: Case) -> Outcome:
    return outcome(lambda: read(text_of(given["compact"]), given))


def run_batch(given: Case) -> Outcome:
    roots = Roots()
    return {
        "results": [
            outcome(lambda text=text: read(text_of(text), given, roots))
            for text in given["compacts"]
        ]
    }


def run_key(given: Case) -> Outcome:
    def verified() -> Outcome:
        key = public_key_from_bytes(bytes.fromhex(given["public_key"]))
        if not key.verifies(bytes.fromhex(given["signature"]), bytes.fromhex(given["message"])):
            raise WaybillError(401, "not signed")
        return {}

    if given["operation"] == "enrol":
        return outcome(lambda: {"kid": enrol(given["jwk"]).kid})
    return outcome(verified)


def run_json(given: Case) -> Outcome:
    return outcome(lambda: {"value": parse_json(text_of(given["text"]))})


def run_text(given: Case) -> Outcome:
    text = given["text"]

    def of_id() -> Outcome:
        refuse(not is_id(text))
        return {"ms": id_time(text)}

    def of_agent() -> Outcome:
        refuse(not is_agent_id(text))
        return {}

    def of_time() -> Outcome:
        ms = parse_time(text)
        refuse(ms is None)
        return {"ms": ms}

    def of_digest() -> Outcome:
        from waybill_sdk.protocol.encoding import is_digest

        refuse(not is_digest(text))
        return {"of": text}

    kinds = {"id": of_id, "agent_id": of_agent, "time": of_time, "digest": of_digest}
    return outcome(kinds[given["kind"]])


def run_lifecycle(given: Case) -> Outcome:
    handoff, steps = None, []
    for event in given["events"]:
        handoff, reply = step(handoff, event)
        steps.append(
            {
                "reply": reply,
                "state": handoff and handoff.state,
                "status": handoff and handoff.status,
            }
        )
    return {"steps": steps, "attempts": [str(each) for each in handoff.attempts] if handoff else []}


def run_history(given: Case) -> Outcome:
    found = [asdict(each) for each in check_history(given["entries"], **given["options"])]
    return {"holds": not found, "violations": found}


def run_manifest(given: Case) -> Outcome:
    if given["operation"] == "read":
        long = given.get("manifest_text")
        manifest = given["manifest"] if long is None else parse_json(text_of(long))
        return outcome(lambda: {"manifest": read_manifest(manifest)})
    if given["operation"] == "chain":
        known = verify_manifest(given["known"], at=given["at"])

        def chain() -> Outcome:
            check_chain(known, [digest_of_jws(each) for each in given["shown"]])
            return {}

        return outcome(chain)
    last: VerifiedManifest | None = None
    trust = given.get("trust")
    policy = trust and TrustPolicy(
        trust["pins"] or {}, trust["allow_list"], trust["registry"] or {}, trust["first_use"]
    )
    results = []

    def take(text: str, at: int) -> Outcome:
        nonlocal last
        last = verify_manifest(
            text,
            previous=last,
            at=at,
            known_keys=given.get("known_keys"),
            trust=policy,
            from_first=given.get("from_first", False),
            vouched=lambda kid: kid in given.get("vouched", ()),
        )
        return {
            "digest": last.digest,
            "sequence": last.manifest["sequence"],
            "kids": list(last.keys),
            "recovery": None if last.recovery is None else last.recovery.kid,
            "trusted_by": last.trusted_by,
        }

    for each in given["manifests"]:
        results.append(outcome(lambda each=each: take(text_of(each["text"]), each["at"])))
    made: Outcome = {"results": results}
    if "envelope" in given:
        ring = keyring([] if last is None else [last])
        each = given["envelope"]
        text = each["text"] if "text" in each else each["compact"]
        made["envelope"] = outcome(
            lambda: {"digest": verify_envelope(text, key_of=ring.get, at=each["at"]).digest}
        )
    return made


def run_schema(given: Case) -> Outcome:
    def work() -> Outcome:
        schema = (
            parse_json(text_of(given["schema_text"])) if "schema_text" in given else given["schema"]
        )
        compiled = compile_schema(schema)
        if "value" not in given and "value_text" not in given:
            return {"normalized": compiled.schema}
        value = (
            parse_json(text_of(given["value_text"])) if "value_text" in given else given["value"]
        )
        # The messages of the issues are worded by each implementation.
        issues = [{"at": each.at, "keyword": each.keyword} for each in compiled.check(value)]
        return {"normalized": compiled.schema, "issues": issues, "fits": not issues}

    return outcome(work)


def is_taken_from(given: Case, asker: Case) -> bool:
    said = {"from": given["from"]} if "from" in given else {}
    capability = read_capability({"name": "edit", **said})
    # A recipient leaves groups to its hub.
    groups = asker.get("groups")
    handoff = present(**{"from": asker["agent"]}, on_behalf_of=asker.get("on_behalf_of"))
    kid = None if "on_behalf_of" in handoff else asker["kid"]
    return takes_from(
        capability, principal_of(handoff), kid, lambda group: groups is None or group in groups
    )


def run_takers(given: Case) -> Outcome:
    to = given["to"]
    is_named = isinstance(to, str)
    name = given["capability"] if is_named else to["capability"]
    offers = [
        each
        for each in given["candidates"]
        if each["capability"]["name"] == name and (not is_named or each["agent_id"] == to)
    ]
    takers = [
        each["agent_id"] for each in offers if is_taken_from(each["capability"], given["asker"])
    ]
    refused = 403 if is_named and offers else 404
    return {"takers": takers, "status": None if takers else refused}


def run_quota(given: Case) -> Outcome:
    quota, used = given["quota"], given["used"]
    if used["open"] >= quota.get("open", math.inf):
        return {"status": 301}
    most = quota.get("per_minute", math.inf)
    if len(used["lately"]) < most:
        return {"status": None}
    wait_ms = used["lately"][most - 1] + 60_000 - given["at"]
    return {"status": 301, "retry_after_ms": wait_ms} if wait_ms > 0 else {"status": None}


def run_discovery(given: Case) -> Outcome:
    if given["operation"] == "find":
        query = dict(given["query"])
        if "input_text" in given:
            query["input"] = parse_json(text_of(given["input_text"]))
        budget = Budget(given["steps"]) if "steps" in given else None
        ranked = find(query, [Candidate(**each) for each in given["candidates"]], budget)
        assert all(ranked.left_out.values())
        return {"fits": [each.agent_id for each in ranked.fits], "left_out": list(ranked.left_out)}
    if given["operation"] == "judge_input":
        asked = dict(given["given"])
        if "input_text" in given:
            asked["input"] = parse_json(text_of(given["input_text"]))
        budget = Budget(given["steps"]) if "steps" in given else None
        judged = judge_input(asked, [Candidate(**each) for each in given["candidates"]], budget)
        refusals = [
            {"agent_id": agent, "at": [issue.at for issue in issues]}
            for agent, issues in judged.refusals.items()
        ]
        return {"may_be_taken": judged.may_be_taken, "refusals": refusals}
    if given["operation"] == "may_act_for":
        pytest.skip("This is a rule for a hub, and this package is none")
    if given["operation"] == "takes_from":
        return {"is_taken": is_taken_from(given, given["asker"])}
    if given["operation"] == "takers":
        return run_takers(given)
    if given["operation"] == "quota":
        return run_quota(given)
    if given["operation"] == "shown":
        viewer = given["viewer"]
        shown = [
            each["agent_id"]
            for each in given["candidates"]
            if viewer == "operator"
            or (
                "from" not in each["capability"]
                if viewer == "anybody"
                else is_taken_from(each["capability"], viewer)
            )
        ]
        return {"agents": shown}
    if given["operation"] == "queue":
        placed = [
            (queue_place(each["due_at"], each.get("priority")), each["id"])
            for each in given["waiting"]
        ]
        return {"order": [name for _, name in sorted(placed)]}
    ejection, answers = Ejection(), []
    for moment in given["moments"]:
        if "status" in moment:
            ejection.ended(moment["status"], moment["at"])
        else:
            answers.append(ejection.is_out(moment["at"]))
    return {"is_out": answers}


def run_contract(given: Case) -> Outcome:
    if given["operation"] == "offer":
        verdict = judge_offer(given["offer"], given["terms"], has_countered=given["has_countered"])
    else:
        verdict = judge_counter(given["counter"], given["offer"])
    return {"verdict": verdict.verdict, "contract": verdict.contract}


def run_hub(given: Case) -> Outcome:
    operation = given["operation"]

    def frames() -> Outcome:
        found = read_frames(
            text_of(given["text"]), to=given["to"], characters=given.get("characters")
        )
        return {"types": [each["type"] for each in found]}

    def delivery() -> Outcome:
        check_delivery(given["value"], "")
        return {"type": given["value"]["type"]}

    def hello() -> Outcome:
        return check_hello(
            given["payload"],
            hub=given["to"],
            domain=given["domain"],
            nonce=given["nonce"],
            at=given["at"],
        )

    def request() -> Outcome:
        body = given.get("body")
        return check_request(
            given["authorization"],
            hub=given["to"],
            domain=given["domain"],
            method=given["method"],
            path=given["path"],
            body=None if body is None else body.encode("utf-8"),
            at=given["at"],
            key_of=key_of(given["keyring"]),
        )

    def domain() -> Outcome:
        chain: list[VerifiedManifest] = []
        for text in given["manifests"]:
            previous = chain[-1] if chain else None
            chain.append(verify_manifest(text, previous=previous, at=given["at"]))
        check_domain(given["domain"], chain)
        return {}

    def operator_request() -> Outcome:
        body = given.get("body")
        return check_operator_request(
            given["authorization"],
            method=given["method"],
            path=given["path"],
            body=None if body is None else body.encode("utf-8"),
            at=given["at"],
            token=given["token"],
        )

    def enrolment() -> Outcome:
        return check_enrolment(
            given["proof"],
            manifest=given["manifest"],
            invitation=given["token"],
            domain=given["domain"],
        )

    if operation == "delta_order":
        last, delta = given["last"], given["delta"]
        place = None if last is None else (last["attempt"], last["number"])
        return {"is_shown": is_next_delta(place, (delta["attempt"], delta["number"]))}
    if operation == "answer":
        error = error_of_response(given["http_status"], given["body"])
        return {
            "status": error.status,
            "retryable": error.retryable,
            "retry_after_ms": error.retry_after_ms,
        }
    of_hubs = (
        "push",
        "echo",
        "inbox_contact",
        "delta_reader",
        "blob_part",
        "blob_uploaded",
        "blob_named",
        "blob_range",
        "blob_kept",
        "address",
        "hub_id",
        "newcomer",
        "invitation",
        "reserved_id",
        "job",
    )
    if operation in of_hubs:
        pytest.skip("These are rules for a hub and its inboxes, and this package is neither")

    def blob_received() -> Outcome:
        named, received = given["named"], given["received"]
        check_blob(
            named["digest"],
            named["size"],
            received_digest=received["digest"],
            received_size=received["size"],
        )
        return {}

    operations = [
        frames,
        delivery,
        hello,
        request,
        domain,
        operator_request,
        enrolment,
        blob_received,
    ]
    return outcome({each.__name__: each for each in operations}[operation])


def run_tracing(given: Case) -> Outcome:
    match given["operation"]:
        case "send":
            return asdict(tracing.send_span(given["handoff"], given["is_creator"]))
        case "process":
            shape = tracing.process_span(given["handoff"], given["agent"], given["attempt"])
            return asdict(shape)
        case "invoke_agent":
            return asdict(tracing.invoke_agent_span(given["handoff"], given["agent"]))
        case "failure":
            return {"attributes": tracing.failure_attributes(given["status"])}
        case "usage":
            points = tracing.token_points(given["rows"])
            return {
                "attributes": tracing.usage_attributes(given["rows"]),
                "points": [{"tokens": each, "attributes": about} for each, about in points],
            }
        case _:
            return {
                "name": tracing.TOKEN_USAGE_NAME,
                "unit": tracing.TOKEN_USAGE_UNIT,
                "description": tracing.TOKEN_USAGE_DESCRIPTION,
                "schema_url": tracing.SCHEMA_URL,
                "boundaries": tracing.TOKEN_USAGE_BOUNDARIES,
            }


def run_usage(given: Case) -> Outcome:
    usage = Usage.read(given.get("usage"))
    rows = given["rows"] if usage is None else usage.rows
    return {"rows": merge_usage(rows), "total": asdict(sum_usage(rows))}


def run_session(input: Case) -> Outcome:
    operation = input["operation"]
    if operation == "offer":
        pytest.skip("This is a rule for a hub, and this package is none")
    if operation == "result":
        return {"session": session_found(input["offered"], input["had_conversation"])}
    return outcome(lambda: {"key": session_key(input["delegator"], input["session"])})


RUNNERS: dict[str, Callable[[Case], Outcome]] = {
    "envelopes": run_envelope,
    "receipts": run_envelope,
    "batches": run_batch,
    "keys": run_key,
    "json": run_json,
    "ids-and-times": run_text,
    "lifecycles": run_lifecycle,
    "histories": run_history,
    "manifests": run_manifest,
    "schemas": run_schema,
    "discovery": run_discovery,
    "contracts": run_contract,
    "hubs": run_hub,
    "sessions": run_session,
    "usage": run_usage,
    "tracing": run_tracing,
}


@pytest.mark.parametrize(
    ("name", "case"),
    [pytest.param(name, case, id=case["id"]) for name in RUNNERS for case in cases(name)],
)
def test_vector(name: str, case: Case) -> None:
    found = RUNNERS[name](case["input"])
    if name == "ids-and-times" and case["input"]["kind"] == "digest" and "of" in case["expect"]:
        assert digest_of(text_of(case["expect"]["of"])) == case["input"]["text"]
        return
    wanted = case["expect"]
    if name == "schemas" and "issues" in wanted and wanted["issues"]:
        assert found["issues"][: len(wanted["issues"])] == wanted["issues"], case["title"]
    assert holds(wanted, found), (
        f"{case['title']}: wanted {json.dumps(wanted)[:1500]}, found {str(found)[:1500]}"
    )


def test_every_file_of_vectors_is_run() -> None:
    assert {file.stem for file in (SPEC / "vectors").glob("*.json")} == set(RUNNERS)


def test_an_operators_proof_is_keyed_with_the_token_and_does_not_contain_it() -> None:
    token = f"{'d' * 43}.{'s' * 43}"
    asked: dict[str, Any] = {"method": "POST", "path": "/v1/x", "body": b"{}"}
    proof = sign_operator_request(host="hub:1", token=token, **asked)
    checked = check_operator_request(proof, at=now_ms(), token=token, **asked)
    assert checked["domain"] == "d" * 43 and checked["host"] == "hub:1"
    assert "s" * 43 not in proof + json.dumps(checked)
    with pytest.raises(WaybillError):
        check_operator_request(proof, at=now_ms(), token=f"{'d' * 43}.{'t' * 43}", **asked)
