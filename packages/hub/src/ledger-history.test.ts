import {
  createHandoff,
  createReply,
  digestOfJws,
  generateKey,
  signEnvelope,
} from "@waybill/protocol";
import { checkHistory } from "@waybill/protocol/audit";
import type { Envelope } from "@waybill/protocol";
import { expect, test } from "vitest";
import { decisionEntry, envelopeEntry } from "./custody/entries.ts";
import type { Decision } from "./custody/entries.ts";
import { ledgerHistory } from "./ledger-history.ts";
import { chained } from "./ledger/ledger-fixture.ts";
import type { NewEntry } from "./store.ts";

const AT = Date.UTC(2026, 0, 1);
const key = generateKey();
const handoff = createHandoff({
  from: "editor",
  domain: key.kid,
  to: "researcher",
  body: { capability: "web_research" },
  deadline: new Date(AT + 60_000),
});
const submitted = paper(handoff);

function paper(envelope: Envelope): NewEntry {
  const text = signEnvelope(envelope, key);
  return envelopeEntry(AT, { envelope, text, digest: digestOfJws(text), kid: key.kid });
}

function said(by: string, kind: "progress" | "result"): NewEntry {
  const base = { from: by, attempt: 1, re: submitted.digest };
  return paper(
    kind === "progress"
      ? createReply(handoff, { ...base, kind, body: { message: "at it" } })
      : createReply(handoff, { ...base, kind, body: { status: 200, output: "done" } }),
  );
}

function decided(decision: Decision): NewEntry {
  return decisionEntry(AT, handoff.handoff_id, decision);
}

async function rulesBrokenBy(...more: readonly NewEntry[]): Promise<string[]> {
  const offer = decided({ type: "offer", recipient: "researcher", at: AT });
  const entries = chained([submitted, offer, ...more]);
  const ledger = { ledger: () => Promise.resolve(entries) };
  const { violations } = checkHistory(await Array.fromAsync(ledgerHistory(ledger)));
  return violations.map(({ rule }) => rule);
}

test("a regular handoff violates no rule", async () => {
  const work = [said("researcher", "progress"), said("researcher", "progress")];
  expect(await rulesBrokenBy(...work, said("researcher", "result"))).toEqual([]);
});

test("an envelope that is on record twice was accepted twice", async () => {
  const progress = said("researcher", "progress");
  expect(await rulesBrokenBy(progress, progress)).toEqual(["repeat_not_noticed"]);
});

test("an envelope on record without a refusal was accepted, whatever the rules say", async () => {
  const forged = said("stranger", "result");
  expect(await rulesBrokenBy(forged)).toContain("result_not_by_recipient");
  const refused = decided({ type: "refused", digest: forged.digest, status: 403 });
  expect(await rulesBrokenBy(refused, forged)).toEqual([]);
});
