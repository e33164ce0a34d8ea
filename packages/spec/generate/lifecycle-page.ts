import { LIMITS, STATUS } from "@waybill/protocol";
import {
  ATTEMPT_MOVES,
  CLOSE_REASONS,
  DEFAULT_TERMS,
  EJECTION,
  HANDOFF_MOVES,
} from "@waybill/protocol/hub";
import type { Retry } from "@waybill/protocol";
import type { AttemptState, LifecycleTerms, Party } from "@waybill/protocol/hub";
import { lifecycleDiagram } from "./internals.ts";
import { page, table } from "./markdown.ts";
import { RETRY_MEANING } from "./status-page.ts";

const ATTEMPT_STATES: readonly AttemptState[] = ["offered", "accepted", "waiting"];

const TERM_MEANING: Readonly<Record<keyof LifecycleTerms, string>> = {
  maxAttempts: "tries that may end in a verdict to be tried again, an interruption or a lost lease",
  leaseMs: "how long an accepted attempt may stay silent, in milliseconds",
  offerMs: "how long an offered attempt may go untaken",
  graceMs: 'how long after "taken" the signed acceptance may be outstanding',
  backoffMs:
    "the wait before the second try; it doubles with each further one, less up to half of it",
  backoffCapMs: "the longest wait between two tries",
};

/** Each transition of an attempt and of a handoff, with the parties that may cause it. */
function causes(): string {
  const parties: readonly Party[] = ["delegator", "recipient", "hub", "operator"];
  return table(
    ["Who", "may cause of a handoff", "may cause of an attempt"],
    parties
      .map((party) => [
        party,
        namesBy(HANDOFF_MOVES, party).join(", ") || "nothing",
        [...(party === "hub" ? ["offer"] : []), ...namesBy(ATTEMPT_MOVES, party)].join(", ") ||
          "nothing",
      ])
      .map(([party, ofHandoff, ofAttempt]) => [party!, ofHandoff!, ofAttempt!]),
  );
}

function namesBy(moves: Readonly<Record<string, { readonly by: Party }>>, party: Party): string[] {
  return Object.keys(moves).filter((name) => moves[name]!.by === party);
}

function attemptTable(): string {
  return table(
    ["Event", "by", ...ATTEMPT_STATES.map((state) => `from ${state}`)],
    Object.entries(ATTEMPT_MOVES).map(([name, { by, moves, closes }]) => [
      name,
      by,
      ...ATTEMPT_STATES.map((state) => {
        const to = moves[state];
        if (to === undefined) return "refused";
        return to === "closed" ? `closed: ${closes}` : to;
      }),
    ]),
  );
}

function retryTable(): string {
  const words: Partial<Record<Retry, number[]>> = {};
  for (const [code, { retry }] of Object.entries(STATUS)) {
    if (Number(code) >= 300) (words[retry] ??= []).push(Number(code));
  }
  return table(
    ["Retry", "Statuses", "Means"],
    Object.entries(words).map(([retry, codes]) => [
      retry,
      codes.join(", "),
      RETRY_MEANING[retry as Retry],
    ]),
  );
}

export function lifecyclePage(): string {
  return page(
    "# The lifecycle of a handoff",
    "Generated from the tables that the code runs on. The rules are WB-42 to WB-59 of [the specification](specification.md), and [the vectors](vectors/README.md) hold lives to replay.",
    "## Diagrams",
    "The handoff, then the attempt. Every arrow between two states is in a row of the tables below; what is no arrow can't happen.",
    lifecycleDiagram(),
    "## Who may cause what",
    causes(),
    "Besides: the delegator acknowledges an ended handoff, the operator replays a dead letter as a new handoff or discards it. Neither changes the state.",
    "## The handoff",
    table(
      ["Event", "by", "from", "to", "Meaning"],
      Object.entries(HANDOFF_MOVES).map(([name, { by, from, to, meaning }]) => [
        name,
        by,
        from,
        to,
        meaning,
      ]),
    ),
    "## The attempt",
    attemptTable(),
    "`answer` is the last answer outstanding: while others are, the attempt goes on waiting. `result` with status 501 is an `interrupt`, unless it says `retryable: false`. A question that carries a `state` is a `pause`.",
    "## Why an attempt is closed",
    table(
      ["Reason", "Meaning", "The recipient's verdict", "Uses up a try"],
      Object.entries(CLOSE_REASONS).map(([reason, { meaning, isVerdict, countsAsTry }]) => [
        reason,
        meaning,
        isVerdict ? "yes" : "no",
        countsAsTry ? "yes" : "no",
      ]),
    ),
    "## Default terms",
    "A contract names other ones; a recipient's manifest gives those that the contract leaves out.",
    table(
      ["Term", "Default", "Meaning"],
      (Object.keys(TERM_MEANING) as (keyof LifecycleTerms)[]).map((term) => [
        snake(term),
        String(DEFAULT_TERMS[term]),
        TERM_MEANING[term],
      ]),
    ),
    "## What is tried again",
    "What a failing result leads to, by its status:",
    retryTable(),
    [
      "1. `yes`, `later` and `possible` are tried again unless the error says `retryable: false`; `per_flag` only with `retryable: true`; `once` unless an attempt before ended with the same status or the error says `retryable: false`. All others are final.",
      "2. `elsewhere` and `renegotiate`, and 403, are final as a result. As a rejection they make the hub ask another agent, if the hub had picked the first.",
      "3. When the tries are used up, the last attempt decides: a verdict fails the handoff with its status, anything else makes it a dead letter, 508.",
      "4. The next attempt starts no earlier than the wait allows, and no earlier than `retry_after_ms` says.",
    ].join("\n"),
    "## Out for a while",
    `${EJECTION.afterFailures} failures in a row that a recipient caused put it behind all others for ${EJECTION.baseMs / 1000} seconds; each further one before a success for ${EJECTION.factor} times as long as the last, up to ${EJECTION.capMs / 1000} seconds.`,
    "## Limits",
    table(
      ["Limit", "Value"],
      Object.entries(LIMITS).map(([name, value]) => [snake(name), String(value)]),
    ),
  );
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
