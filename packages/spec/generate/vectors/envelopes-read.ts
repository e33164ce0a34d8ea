import { partOfOne } from "./batches.ts";
import type { Row } from "./case.ts";
import { AT, reads, readsEnvelope } from "./check.ts";
import {
  ANSWER,
  CANCEL,
  changed,
  HANDOFF,
  HANDOFF_DIGEST,
  NOTICE,
  PROGRESS,
  QUESTION,
  RESULT,
} from "./envelope.ts";
import {
  DAY,
  digest,
  editor,
  enrolled,
  hub,
  id,
  MINUTE,
  NOW,
  researcher,
  timeAt,
} from "./parties.ts";
import { encodeLong, expand } from "./text.ts";
import type { Text } from "./text.ts";
import { headerOf, jws, longJws, signed } from "./wire.ts";
import type { JwsParts } from "./wire.ts";

const FULL_ROW = {
  model: "m".repeat(256),
  requests: Number.MAX_SAFE_INTEGER,
  input_tokens: 7,
  cached_input_tokens: 7,
  output_tokens: 0,
  reasoning_tokens: 0,
  cost: { amount: "999999999999999.999999999999", currency: "EUR" },
};
const FULL_USAGE = {
  own: Array.from({ length: 64 }, () => FULL_ROW),
  earlier: [{}],
  children: [{ cost: { amount: "0.0", currency: "XXX" } }],
  handoffs: Array.from({ length: 256 }, (_, n) => id(1000 + n)),
};
const FULL = changed(HANDOFF, {
  parent_id: id(20),
  hop: 1,
  group: { id: id(21), index: 3, size: 10, join: "quorum", quorum: 7 },
  replay_of: id(22),
  traceparent: "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01",
  tracestate: "vendor=1",
  body: {
    capability: "web_research",
    version: "1",
    input: { query: "Gezeiten – 潮汐 🌊", depth: 9007199254740991, scale: -1.5e300 },
    brief: { instruction: "Find out when the tide is high.", expected_output: "two times" },
    messages: [
      { role: "user", name: "ann", content: [{ type: "text", text: "When?" }] },
      {
        role: "assistant",
        content: [
          { type: "image", media_type: "image/png", name: "c.png", data: "-_8", detail: "high" },
          { type: "audio", media_type: "audio/*", url: "http://example.com/surf" },
          { type: "file", media_type: "text/csv", data: "" },
          { type: "video", media_type: 7, data: "+/8=", url: "file:///nowhere" },
          { type: "Image", of: [null] },
        ],
      },
    ],
    artifacts: [
      { name: "map.txt", media_type: "text/plain", digest: digest("map"), data: "bWFw" },
      {
        name: "coast",
        media_type: "image/png",
        digest: digest("c"),
        url: "https://example.com/c.png",
      },
      { name: "film", media_type: "video/mp4", digest: digest("f"), size: 5_368_709_120 },
    ],
    contract: {
      timeout_seconds: 300,
      lease_seconds: 30,
      max_attempts: 3,
      max_tokens: 20_000,
      max_cost: { amount: "0.25", currency: "USD" },
      output_schema: { summary: "string" },
    },
    metadata: { ticket: 7, nested: { any: [null, true] } },
  },
});

/** Members that no schema defines, in the envelope and in its body. */
const EXTENDED = changed(HANDOFF, {
  urgency: "high",
  body: { ...(HANDOFF["body"] as object), colour: { of: "no meaning here" } },
});

const SPELLED = `{ "body":{"input":{"query":"\\u0074ides","depth":2e0},"capability":"web_research"},\n${JSON.stringify(
  changed(HANDOFF, { body: undefined }),
).slice(1, -1)} }`;

const ENVELOPE_BYTES_MAX = 1_048_576;

/** An envelope of exactly this many bytes, most of them in an unknown member. */
export function handoffOfSize(bytes: number, parts: JwsParts = {}): Text {
  const [before, after] = JSON.stringify(changed(HANDOFF, { padding: "~" })).split("~") as [
    string,
    string,
  ];
  const overhead = expand(longJws(encodeLong(before, "a", 0, after), editor, parts)).length;
  const times = Math.floor(((bytes - overhead) * 3) / 4);
  for (let more = 0; more < 4; more++) {
    const text = longJws(encodeLong(before, "a", times + more, after), editor, parts);
    if (expand(text).length === bytes) return text;
  }
  throw new Error(`no envelope has exactly ${bytes} bytes`);
}

export function pausedWith(unit: string, times: number): Text {
  const [before, after] = JSON.stringify(
    changed(QUESTION, { body: { questions: [{ id: "q-1" }], state: "~" } }),
  ).split("~") as [string, string];
  return longJws(encodeLong(before, unit, times, after), researcher);
}

/** A header of another length, which makes other total lengths possible. */
const AS_BATCH: JwsParts = {
  header: headerOf("Ed25519-batch", editor.kid),
  part: (input) => partOfOne(input, editor),
};

const ofOneAgent = { to: researcher.agent };

export const READ: readonly Row[] = [
  readsEnvelope([18, 26, 27, 31], "a handoff, read by its recipient", HANDOFF, editor, ofOneAgent),
  readsEnvelope([85], "a handoff for the reader's custody domain", HANDOFF, editor, {
    domain: hub.kid,
  }),
  readsEnvelope([28, 37, 38, 248, 249], "a handoff with every member that there is", FULL, editor),
  readsEnvelope(
    [31],
    "a handoff to whoever has a capability, read by somebody who only watches",
    changed(HANDOFF, {
      to: { capability: "web_research", version: "1", tags: ["en"], min_reliability: 0.9 },
    }),
    editor,
  ),
  readsEnvelope([27], "a cancellation", CANCEL, editor, ofOneAgent),
  readsEnvelope([27], "an answer", ANSWER, editor),
  readsEnvelope(
    [27, 28],
    "an answer may be null",
    changed(ANSWER, { body: { question_id: "q-1", answer: null } }),
    editor,
  ),
  readsEnvelope([27, 35], "progress", PROGRESS, researcher, { to: editor.agent }),
  readsEnvelope([27, 35], "a question", QUESTION, researcher),
  readsEnvelope(
    [27, 51],
    "a question with a state",
    changed(QUESTION, { body: { questions: [{ id: "q-1" }], state: "b3BhcXVl" } }),
    researcher,
  ),
  readsEnvelope([27, 35, 39], "a result", RESULT, researcher),
  readsEnvelope(
    [230],
    "a result with usage at the limits",
    changed(RESULT, { body: { status: 200, output: 1, usage: FULL_USAGE } }),
    researcher,
  ),
  readsEnvelope(
    [230],
    "a failure with usage",
    changed(RESULT, {
      body: { status: 500, error: { message: "it broke" }, usage: { own: [{ requests: 1 }] } },
    }),
    researcher,
  ),
  readsEnvelope(
    [39],
    "a failure with its message",
    changed(RESULT, {
      body: {
        status: 500,
        error: { message: "the source is down", retryable: true, retry_after_ms: 500 },
      },
    }),
    researcher,
  ),
  readsEnvelope([27], "a notice of the hub", NOTICE, hub),
  reads([29], "members that nobody knows are ignored", signed(EXTENDED, editor), HANDOFF),
  reads(
    [21],
    "the payload's own spelling: order, white space and escapes are the sender's",
    jws(SPELLED, editor),
    HANDOFF,
  ),
  readsEnvelope(
    [33],
    "issued 60 seconds ahead of the reader's clock",
    changed(HANDOFF, { issued_at: timeAt(2000 + MINUTE) }),
    editor,
  ),
  readsEnvelope([33], "issued long before it came in", HANDOFF, editor, { at: NOW + 30 * DAY }),
  readsEnvelope(
    [34],
    "a deadline 366 days after the time of issue",
    changed(HANDOFF, { deadline: timeAt(366 * DAY) }),
    editor,
  ),
  readsEnvelope(
    [34],
    "a deadline a millisecond after the time of issue",
    changed(HANDOFF, { deadline: timeAt(1) }),
    editor,
  ),
  readsEnvelope(
    [6],
    "a time with nine digits of a second",
    changed(HANDOFF, { issued_at: "2026-11-18T07:45:00.123456789Z" }),
    editor,
  ),
  readsEnvelope(
    [6],
    "a time without a fraction",
    changed(HANDOFF, { issued_at: "2026-11-18T07:45:00Z" }),
    editor,
  ),
  readsEnvelope([32], "in the first millisecond of the key", HANDOFF, editor, {
    keyring: { [editor.kid]: enrolled(editor, { not_before: AT }) },
  }),
  readsEnvelope([32], "in the last millisecond of the key", HANDOFF, editor, {
    keyring: { [editor.kid]: enrolled(editor, { not_after: AT + 1 }) },
  }),
  readsEnvelope([32], "an entry of a ledger from before the key was retired", HANDOFF, editor, {
    at: AT,
    keyring: { [editor.kid]: enrolled(editor, { not_before: AT - DAY, not_after: AT + DAY }) },
  }),
  readsEnvelope(
    [38],
    "the last place of the largest group",
    changed(HANDOFF, { group: { id: id(21), index: 255, size: 256, join: "all" } }),
    editor,
  ),
  readsEnvelope([36], "the sixteenth hop", changed(HANDOFF, { hop: 16 }), editor),
  reads(
    [36],
    "a state of 262,144 bytes",
    pausedWith("s", 262_144),
    changed(QUESTION, { body: { questions: [{ id: "q-1" }] } }),
  ),
  readsEnvelope(
    [28],
    "a question's id of 256 characters beyond the basic plane",
    changed(QUESTION, { body: { questions: [{ id: "\u{1f30a}".repeat(256) }] } }),
    researcher,
  ),
  reads(
    [19],
    "the longest lone envelope: of 1,048,576 bytes there is none",
    handoffOfSize(ENVELOPE_BYTES_MAX - 1),
    HANDOFF,
  ),
  reads(
    [19, 24],
    "a batch of one with exactly 1,048,576 bytes",
    handoffOfSize(ENVELOPE_BYTES_MAX, AS_BATCH),
    HANDOFF,
  ),
  readsEnvelope(
    [9],
    "a payload with 64 levels of objects and arrays",
    changed(HANDOFF, {
      body: { capability: "web_research", input: JSON.parse(`${"[".repeat(62)}${"]".repeat(62)}`) },
    }),
    editor,
  ),
  readsEnvelope(
    [11],
    "a character beyond the basic plane, in two escapes",
    changed(HANDOFF, { body: { capability: "web_research", input: "\u{1f30a}" } }),
    editor,
  ),
  readsEnvelope(
    [5],
    "an agent's id of 128 characters",
    changed(CANCEL, { to: `a${"._-x".repeat(31)}bcd` }),
    editor,
  ),
  readsEnvelope(
    [3, 35],
    "the digest of the handoff's compact form",
    changed(PROGRESS, { re: HANDOFF_DIGEST }),
    researcher,
  ),
];
