import { vectorFile } from "./case.ts";
import type { Row, VectorFile } from "./case.ts";
import { readsEnvelope, refusesEnvelope } from "./check.ts";
import { changed, HANDOFF_DIGEST, RECEIPT, RESULT } from "./envelope.ts";
import type { Members } from "./envelope.ts";
import { digestOfJws, editor, hub, id, researcher, stranger } from "./parties.ts";
import type { Party } from "./parties.ts";
import { signed } from "./wire.ts";

const RESULT_DIGEST = digestOfJws(signed(RESULT, researcher));

const CUSTODY: Members = changed(RECEIPT, {
  from: hub.agent,
  attempt: undefined,
  body: { status: 100 },
});
const ACKNOWLEDGEMENT: Members = changed(RECEIPT, {
  from: editor.agent,
  to: researcher.agent,
  attempt: undefined,
  re: RESULT_DIGEST,
  body: { status: 200 },
});

/** An acknowledgement of so many more handoffs. */
function acknowledging(count: number): Members {
  const also = Array.from({ length: count }, (_, index) => ({
    handoff_id: id(9000 + index),
    re: RESULT_DIGEST,
  }));
  return changed(ACKNOWLEDGEMENT, { to: hub.agent, body: { status: 200, also } });
}

const listing = (...also: readonly Members[]): Members =>
  changed(ACKNOWLEDGEMENT, { to: hub.agent, body: { status: 200, also } });
const OTHER: Members = { handoff_id: id(9000), re: RESULT_DIGEST };
const LIST = "/body/also";

const MALFORMED_LISTS: readonly (readonly [string, 400 | 413, Members, string])[] = [
  ["a list of one more than 64", 413, acknowledging(65), LIST],
  ["an empty list", 400, listing(), LIST],
  ["a list with a handoff twice", 400, listing(OTHER, OTHER), LIST],
  [
    "a list with the handoff of the envelope itself",
    400,
    listing({ ...OTHER, handoff_id: ACKNOWLEDGEMENT["handoff_id"] }),
    LIST,
  ],
  [
    "a list in an acceptance",
    400,
    changed(RECEIPT, { from: editor.agent, body: { status: 101, also: [OTHER] } }),
    LIST,
  ],
  ["a list that is no list", 400, changed(listing(), { body: { status: 200, also: OTHER } }), LIST],
  [
    "a list with a handoff without its digest",
    400,
    listing({ handoff_id: OTHER["handoff_id"] }),
    `${LIST}/0/re`,
  ],
  ["a list with a digest that is none", 400, listing({ ...OTHER, re: "sha256:0" }), `${LIST}/0/re`],
  [
    "a list with an id that is none",
    400,
    listing({ ...OTHER, handoff_id: "1" }),
    `${LIST}/0/handoff_id`,
  ],
];

/** A valid receipt, and what it does to the handoff: null if it only reports. */
function means(
  rules: readonly number[],
  title: string,
  receipt: Members,
  signer: Party,
  event: Members | null,
): Row {
  const row = readsEnvelope(rules, title, receipt, signer);
  return { ...row, expect: { ...(row.expect as Members), event } };
}

const byRecipient = { by: researcher.agent, attempt: 1, re: HANDOFF_DIGEST };

export const RECEIPTS: VectorFile = vectorFile(
  "receipts",
  "receipt",
  "One receipt, read with a keyring at a time, and the event of the lifecycle that it stands for.",
  [
    means([27, 42], "the hub's receipt of custody causes nothing", CUSTODY, hub, null),
    means([35, 74], "an acceptance, by the digest of what is accepted", RECEIPT, researcher, {
      type: "accept",
      ...byRecipient,
    }),
    means(
      [35],
      "an acceptance of the second attempt",
      changed(RECEIPT, { attempt: 2 }),
      researcher,
      { type: "accept", ...byRecipient, attempt: 2 },
    ),
    means(
      [35, 45],
      "a status of 101 without an attempt holds none",
      changed(RECEIPT, { attempt: undefined }),
      researcher,
      null,
    ),
    means(
      [52],
      "a release",
      changed(RECEIPT, { body: { status: 300, reason: "not now" } }),
      researcher,
      { type: "release", ...byRecipient, status: 300 },
    ),
    means(
      [52],
      "no credit, and when to come again",
      changed(RECEIPT, { body: { status: 301, retry_after_ms: 5000 } }),
      researcher,
      { type: "release", ...byRecipient, status: 301, retry_after_ms: 5000 },
    ),
    means(
      [56],
      "a rejection",
      changed(RECEIPT, { body: { status: 422, reason: "depth is missing" } }),
      researcher,
      { type: "reject", ...byRecipient, status: 422 },
    ),
    means(
      [74],
      "a rejection with the terms that would do",
      changed(RECEIPT, { body: { status: 406, counter: { timeout_seconds: 600 } } }),
      researcher,
      { type: "reject", ...byRecipient, status: 406 },
    ),
    means([58], "an acknowledgement, by the digest of the result", ACKNOWLEDGEMENT, editor, {
      type: "acknowledge",
      by: editor.agent,
      outcome: RESULT_DIGEST,
    }),
    means(
      [106, 107],
      "an acknowledgement of several, which causes nothing before the hub has decided about each",
      acknowledging(1),
      editor,
      null,
    ),
    means([106], "the longest list", acknowledging(64), editor, null),
    means(
      [108],
      "a custody receipt for several envelopes",
      changed(CUSTODY, { body: { status: 100, also: [OTHER] } }),
      hub,
      null,
    ),
    means(
      [107],
      "the hub's receipt for a list of which it has refused one",
      changed(CUSTODY, {
        to: editor.agent,
        body: { status: 100, refused: [{ handoff_id: id(9000), status: 403 }] },
      }),
      hub,
      null,
    ),
    ...MALFORMED_LISTS.map(([title, status, receipt, place]) =>
      refusesEnvelope([106], title, status, receipt, editor, { place }),
    ),
    refusesEnvelope(
      [28],
      "a receipt for nothing",
      400,
      changed(RECEIPT, { re: undefined }),
      researcher,
      { place: "/re" },
    ),
    refusesEnvelope(
      [28],
      "a receipt without a status",
      400,
      changed(RECEIPT, { body: { reason: "well" } }),
      researcher,
      { place: "/body/status" },
    ),
    refusesEnvelope(
      [28],
      "a receipt of a status that is not in the table",
      400,
      changed(RECEIPT, { body: { status: 202 } }),
      researcher,
      { place: "/body/status" },
    ),
    refusesEnvelope(
      [28],
      "a receipt whose status is a string",
      400,
      changed(RECEIPT, { body: { status: "101" } }),
      researcher,
      { place: "/body/status" },
    ),
    refusesEnvelope(
      [28],
      "a wait of less than nothing",
      400,
      changed(RECEIPT, { body: { status: 301, retry_after_ms: -1 } }),
      researcher,
      { place: "/body/retry_after_ms" },
    ),
    refusesEnvelope(
      [28],
      "a counter-offer of terms that there can't be",
      400,
      changed(RECEIPT, { body: { status: 406, counter: { max_attempts: 1.5 } } }),
      researcher,
      { place: "/body/counter/max_attempts" },
    ),
    refusesEnvelope(
      [3],
      "a receipt for a digest that is none",
      400,
      changed(RECEIPT, { re: "sha256:0" }),
      researcher,
      { place: "/re" },
    ),
    refusesEnvelope(
      [4],
      "a receipt about a handoff whose id is none",
      400,
      changed(RECEIPT, { handoff_id: id(1).slice(1) }),
      researcher,
      { place: "/handoff_id" },
    ),
    refusesEnvelope(
      [30],
      "an acceptance in the name of the recipient, by the hub",
      401,
      RECEIPT,
      hub,
      { place: "/from" },
    ),
    refusesEnvelope(
      [20],
      "an acceptance by somebody whom nobody knows",
      401,
      changed(RECEIPT, { from: stranger.agent }),
      stranger,
    ),
    refusesEnvelope(
      [31],
      "an acceptance that is meant for somebody else",
      403,
      RECEIPT,
      researcher,
      { to: hub.agent, place: "/to" },
    ),
  ],
);
