import type { Row } from "./case.ts";
import { AT, refuses, refusesEnvelope } from "./check.ts";
import { ANSWER, CANCEL, changed, HANDOFF, PROGRESS, QUESTION, RESULT } from "./envelope.ts";
import type { Members } from "./envelope.ts";
import { pausedWith } from "./envelopes-read.ts";
import { DAY, digest, editor, enrolled, id, MINUTE, researcher, stranger, timeAt } from "./parties.ts";
import type { Party } from "./parties.ts";
import { encodeLong } from "./text.ts";
import { jws, longJws } from "./wire.ts";

const TEXT = JSON.stringify(HANDOFF);

/** Payloads as texts: signed as they stand, and wrong as JSON. */
const TEXTS: readonly (readonly [rules: readonly number[], title: string, status: number, payload: string | Uint8Array])[] = [
  [[28, 75], "payload: nothing", 400, ""],
  [[28, 75], "payload: null", 400, "null"],
  [[28], "payload: a number", 400, "1"],
  [[28], "payload: a string", 400, '"handoff"'],
  [[28], "payload: an array", 400, `[${TEXT}]`],
  [[75], "payload: half an object", 400, TEXT.slice(0, -1)],
  [[75], "payload: an object and something behind it", 400, `${TEXT}{}`],
  [[1], "payload: bytes that are not UTF-8", 400, Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')])],
  [[1, 11], "payload: half of a surrogate pair in bytes", 400, Buffer.concat([Buffer.from(TEXT.replace("}", ',"a":"')), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')])],
  [[1], "payload: an overlong encoding", 400, Buffer.concat([Buffer.from(TEXT.slice(0, -1)), Buffer.from(',"a":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')])],
  [[11], "payload: a byte order mark", 400, `\ufeff${TEXT}`],
  [[7], "payload: a member twice", 400, TEXT.replace("{", '{"kind":"cancel",')],
  [[7], "payload: a member twice, once with an escape", 400, TEXT.replace("{", '{"\\u006bind":"cancel",')],
  [[7, 29], "payload: a member twice inside one that nobody knows", 400, TEXT.replace("{", '{"x":{"a":1,"a":1},')],
  [[8], "payload: the name __proto__", 400, TEXT.replace("{", '{"__proto__":{"admin":true},')],
  [[8], "payload: the name constructor, deep inside", 400, TEXT.replace('"depth":2', '"depth":[{"constructor":{"prototype":1}}]')],
  [[8], "payload: the name prototype, with an escape", 400, TEXT.replace('"depth":2', '"\\u0070rototype":2')],
  [[9], "payload: 65 levels", 413, TEXT.replace('"depth":2', `"depth":${"[".repeat(63)}${"]".repeat(63)}`)],
  [[10], "payload: an integer of 2^53", 400, TEXT.replace('"depth":2', '"depth":9007199254740992')],
  [[10], "payload: 1e400", 400, TEXT.replace('"depth":2', '"depth":1e400')],
  [[11], "payload: half of a surrogate pair in an escape", 400, TEXT.replace("tides", "\\ud800")],
  [[11], "payload: a NUL in an escape", 400, TEXT.replace("tides", "\\u0000")],
];

type Change = readonly [rules: readonly number[], title: string, status: number, base: Members, over: Members, place?: string];

const body = (over: Members): Members => ({ body: { ...(HANDOFF["body"] as Members), ...over } });
const failure = (over: unknown): Members => ({ body: over });
const artifact = (over: Members): Members => ({
  name: "map.txt",
  media_type: "text/plain",
  digest: digest("map"),
  ...over,
});
const group = (over: Members): Members => ({ group: { id: id(21), index: 0, size: 3, join: "all", ...over } });

/** Envelopes with one thing wrong, soundly signed by the agent in `from`, or by the editor. */
const CHANGES: readonly Change[] = [
  [[26], "version 2", 400, HANDOFF, { waybill: 2 }, "/waybill"],
  [[26], "a version in a string", 400, HANDOFF, { waybill: "1" }, "/waybill"],
  [[26], "no version", 400, HANDOFF, { waybill: undefined }, "/waybill"],
  [[27], "no kind", 400, HANDOFF, { kind: undefined }, "/kind"],
  [[27], "a kind that there is not", 400, HANDOFF, { kind: "handover" }, "/kind"],
  [[27], "a kind in upper case", 400, HANDOFF, { kind: "Handoff" }, "/kind"],
  [[27, 8], "a kind that every JavaScript object seems to have", 400, HANDOFF, { kind: "toString" }, "/kind"],
  [[27], "a kind that is a list", 400, HANDOFF, { kind: ["handoff"] }, "/kind"],
  [[27, 60], "a handoff that says that it is a manifest", 400, HANDOFF, { kind: "manifest" }, "/kind"],
  [[27, 60], "a signed manifest", 400, { waybill: 1, kind: "manifest", agent_id: editor.agent, sequence: 1, capabilities: [], keys: [editor.jwk] }, {}, "/kind"],
  [[27, 28], "a cancellation that says that it is a result", 400, CANCEL, { kind: "result" }],
  [[28], "no body", 400, HANDOFF, { body: undefined }, "/body"],
  [[28], "a body that is a list", 400, HANDOFF, { body: [] }, "/body"],
  [[28], "no handoff_id", 400, HANDOFF, { handoff_id: undefined }, "/handoff_id"],
  [[28], "no correlation_id", 400, HANDOFF, { correlation_id: undefined }, "/correlation_id"],
  [[28], "no issued_at", 400, HANDOFF, { issued_at: undefined }, "/issued_at"],
  [[28, 34], "no deadline", 400, HANDOFF, { deadline: undefined }, "/deadline"],
  [[28], "a member that is null", 400, HANDOFF, { parent_id: null }, "/parent_id"],
  [[28], "a body without a capability", 400, HANDOFF, { body: { input: 1 } }, "/body/capability"],
  [[28], "a capability with a space in its name", 400, HANDOFF, body({ capability: "web research" }), "/body/capability"],
  [[28], "a message with a role that there is not", 400, HANDOFF, body({ messages: [{ role: "robot", content: [] }] }), "/body/messages/0/role"],
  [[28], "a message whose content is a string", 400, HANDOFF, body({ messages: [{ role: "user", content: "hi" }] }), "/body/messages/0/content"],
  [[28], "a contract with no attempts", 400, HANDOFF, body({ contract: { max_attempts: 0 } }), "/body/contract/max_attempts"],
  [[28], "a contract with a negative lease", 400, HANDOFF, body({ contract: { lease_seconds: -1 } }), "/body/contract/lease_seconds"],
  [[28], "metadata that is a list", 400, HANDOFF, body({ metadata: [] }), "/body/metadata"],
  [[28], "a traceparent of zeros", 400, HANDOFF, { traceparent: `00-${"0".repeat(32)}-${"0".repeat(16)}-00` }, "/traceparent"],
  [[28], "an answer that is left out", 400, ANSWER, { body: { question_id: "q-1" } }],
  [[28], "a question that asks nothing", 400, QUESTION, { body: { questions: [] } }, "/body/questions"],
  [[28], "a fraction above 1", 400, PROGRESS, { body: { fraction: 1.5 } }, "/body/fraction"],
  [[4], "an id in upper case", 400, HANDOFF, { id: id(0xabc).toUpperCase() }, "/id"],
  [[4], "an id of version 4", 400, HANDOFF, { handoff_id: "0193c0de-0000-4000-8000-000000000001" }, "/handoff_id"],
  [[4], "an id in braces", 400, HANDOFF, { correlation_id: `{${id(2)}}` }, "/correlation_id"],
  [[4], "an id of a group that is a word", 400, HANDOFF, group({ id: "g" }), "/group/id"],
  [[4], "an id with a line feed at the end", 400, HANDOFF, { parent_id: `${id(20)}\n` }, "/parent_id"],
  [[5], "a recipient in upper case", 400, HANDOFF, { to: "Research-agent-001" }],
  [[5], "a recipient with a letter that only looks like an a", 400, CANCEL, { to: "rese\u0430rch-agent-001" }, "/to"],
  [[5], "a recipient with a dot at the end", 400, CANCEL, { to: "research-agent-001." }, "/to"],
  [[5], "a recipient of 129 characters", 400, CANCEL, { to: "a".repeat(129) }, "/to"],
  [[5], "an empty recipient", 400, CANCEL, { to: "" }, "/to"],
  [[6], "a time with an offset", 400, HANDOFF, { issued_at: "2026-11-18T07:45:00.000+00:00" }, "/issued_at"],
  [[6], "a time without a zone", 400, HANDOFF, { issued_at: "2026-11-18T07:45:00.000" }, "/issued_at"],
  [[6], "30 February", 400, HANDOFF, { deadline: "2027-02-30T00:00:00Z" }, "/deadline"],
  [[6], "a time in milliseconds", 400, HANDOFF, { issued_at: 1794987900000 }, "/issued_at"],
  [[3], "a digest in upper case", 400, PROGRESS, { re: digest("x").toUpperCase().replace("SHA", "sha") }, "/re"],
  [[3], "a digest without its algorithm", 400, PROGRESS, { re: digest("x").slice(7) }, "/re"],
  [[3], "a digest of another algorithm", 400, PROGRESS, { re: digest("x").replace("256", "512") }, "/re"],
  [[3], "a digest of 63 digits", 400, PROGRESS, { re: digest("x").slice(0, -1) }, "/re"],
  [[35], "a result without its attempt", 400, RESULT, { attempt: undefined }, "/attempt"],
  [[35], "a question without the digest of the handoff", 400, QUESTION, { re: undefined }, "/re"],
  [[35], "progress of attempt 0", 400, PROGRESS, { attempt: 0 }, "/attempt"],
  [[35], "progress of an attempt in a string", 400, PROGRESS, { attempt: "1" }, "/attempt"],
  [[35], "progress of half an attempt", 400, PROGRESS, { attempt: 1.5 }, "/attempt"],
  [[36], "257 artifacts", 413, HANDOFF, body({ artifacts: Array.from({ length: 257 }, () => ({ name: "a", media_type: "b", digest: digest("map"), data: "" })) }), "/body/artifacts"],
  [[36], "a hop of 17", 413, HANDOFF, { hop: 17 }, "/hop"],
  [[36], "a group of 257", 413, HANDOFF, group({ size: 257 }), "/group/size"],
  [[36], "257 questions at once", 413, QUESTION, { body: { questions: Array.from({ length: 257 }, (_, n) => ({ id: `q-${n}` })) } }, "/body/questions"],
  [[37], "an artifact with data and url", 400, HANDOFF, body({ artifacts: [artifact({ data: "bWFw", url: "https://example.com/map" })] })],
  [[37], "an artifact with neither data nor url", 400, HANDOFF, body({ artifacts: [artifact({})] })],
  [[37], "an artifact at a javascript URL", 400, HANDOFF, body({ artifacts: [artifact({ url: "javascript:alert(1)" })] }), "/body/artifacts/0/url"],
  [[37], "an artifact at a file URL", 400, HANDOFF, body({ artifacts: [artifact({ url: "file:///etc/passwd" })] }), "/body/artifacts/0/url"],
  [[2, 37], "an artifact with padded data", 400, HANDOFF, body({ artifacts: [artifact({ data: "bQ==" })] }), "/body/artifacts/0/data"],
  [[2, 37], "an artifact with data in the other alphabet", 400, HANDOFF, body({ artifacts: [artifact({ data: "+/+/" })] }), "/body/artifacts/0/data"],
  [[2, 37], "an artifact with data of a length of 1 modulo 4", 400, HANDOFF, body({ artifacts: [artifact({ data: "bWFwA" })] }), "/body/artifacts/0/data"],
  [[2, 37], "an artifact with trailing bits that are not zero", 400, HANDOFF, body({ artifacts: [artifact({ data: "bR" })] }), "/body/artifacts/0/data"],
  [[38], "a place of a group that is its size", 400, HANDOFF, group({ index: 3 })],
  [[38], "a quorum without its number", 400, HANDOFF, group({ join: "quorum" })],
  [[38], "a number without a quorum", 400, HANDOFF, group({ quorum: 2 })],
  [[38], "a quorum above the size of its group", 400, HANDOFF, group({ join: "quorum", quorum: 4 })],
  [[38], "a group of nobody", 400, HANDOFF, group({ size: 0 }), "/group/size"],
  [[39], "a result that is a receipt's status", 400, RESULT, failure({ status: 101 })],
  [[39], "a result of 300", 400, RESULT, failure({ status: 300, error: { message: "later" } })],
  [[39], "a result of a status that is not in the table", 400, RESULT, failure({ status: 418, error: { message: "teapot" } })],
  [[39], "a failure without an error", 400, RESULT, failure({ status: 500 })],
  [[39], "a failure without a message", 400, RESULT, failure({ status: 500, error: { retryable: false } })],
  [[34], "a deadline at the time of issue", 400, HANDOFF, { deadline: timeAt() }, "/deadline"],
  [[34], "a deadline before the time of issue", 400, HANDOFF, { deadline: timeAt(-1) }, "/deadline"],
  [[34], "a deadline a millisecond more than 366 days ahead", 401, HANDOFF, { deadline: timeAt(366 * DAY + 1) }, "/deadline"],
  [[33], "issued 60.001 seconds ahead of the reader's clock", 401, HANDOFF, { issued_at: timeAt(2000 + MINUTE + 1) }, "/issued_at"],
  [[30], "an envelope in the name of another agent", 401, PROGRESS, { from: editor.agent }, "/from"],
];

const [BEFORE, AFTER] = TEXT.replace('"depth":2', '"depth":~').split("~") as [string, string];

function signerOf({ from }: Members, over: Members): Party {
  return from === researcher.agent || over["from"] !== undefined ? researcher : editor;
}

export const PAYLOAD: readonly Row[] = [
  ...TEXTS.map(([rules, title, status, payload]) => refuses(rules, title, status, jws(payload, editor))),
  refuses([9, 75], "payload: 700,000 levels that nobody closes", 413, longJws(encodeLong(BEFORE, "[", 700_000, ""), editor)),
  refuses([9, 75], "payload: 300,000 levels of objects", 413, longJws(encodeLong(BEFORE, '{"":', 180_000, AFTER), editor)),
  ...CHANGES.map(([rules, title, status, base, over, place]) =>
    refusesEnvelope(rules, title, status, changed(base, over), signerOf(base, over), place === undefined ? {} : { place }),
  ),
  refuses([36], "a state of 262,145 characters", 413, pausedWith("s", 262_145), { place: "/body/state" }),
  refusesEnvelope([31], "a handoff to somebody else than the reader", 403, HANDOFF, editor, { to: stranger.agent, place: "/to" }),
  refusesEnvelope([31], "a result to somebody else than the reader", 403, RESULT, researcher, { to: "hub", place: "/to" }),
  refusesEnvelope([31], "a handoff to whoever has a capability, read by an agent", 403, changed(HANDOFF, { to: { capability: "web_research" } }), editor, { to: researcher.agent, place: "/to" }),
  refusesEnvelope([32], "a millisecond before the key's not_before", 401, HANDOFF, editor, {
    keyring: { [editor.kid]: enrolled(editor, { not_before: AT + 1 }) },
  }),
  refusesEnvelope([32], "at the key's not_after", 401, HANDOFF, editor, {
    keyring: { [editor.kid]: enrolled(editor, { not_after: AT }) },
  }),
  refusesEnvelope([32], "an envelope from before the end of its key that comes in after it", 401, HANDOFF, editor, {
    at: AT + DAY,
    keyring: { [editor.kid]: enrolled(editor, { not_after: AT + MINUTE }) },
  }),
];
