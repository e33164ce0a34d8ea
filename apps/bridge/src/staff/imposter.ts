/// <reference types="node" />
import { join as path } from "node:path";
import { loadKey } from "@waybill/agent";
import { createReply, digestOfJws, generateKey, newId, signEnvelope } from "@waybill/protocol";
import type { HandoffEnvelope, PrivateKey } from "@waybill/protocol";
import { join, seat } from "./join.ts";

/** A handoff that another agent works on, and a real answer. */
export interface Prey {
  readonly handoff: HandoffEnvelope;
  readonly text: string;
  readonly recipient: string;
  readonly genuine: string;
}

export interface Attempted {
  readonly forgery: string;
  readonly digest: string;
  readonly status: number;
  readonly message: string;
}

const OUTPUT = { answer: "Nobody has ever complained about a delivery." };

await join((agent) => {
  // Enrolled like any other agent: a name and a key of its own don't help here.
  agent.serve("gossip", () => "psst");
});

process.once("message", (prey: Prey) => {
  void attempt(prey).then((attempted) => process.send?.(attempted));
});

async function attempt(prey: Prey): Promise<readonly Attempted[]> {
  const enrolled = await loadKey(path(seat.folder, `${seat.id}.key`));
  const { recipient, genuine } = prey;
  return [
    await submit(`a result in the name of ${recipient}`, forged(prey, recipient, generateKey())),
    await submit("a result of its own, for work of another", forged(prey, seat.id, enrolled)),
    await submit("a real result, with other words in it", altered(genuine)),
  ];
}

function forged({ handoff, text }: Prey, from: string, key: PrivateKey): string {
  const body = { status: 200 as const, output: OUTPUT };
  const re = digestOfJws(text);
  const reply = { kind: "result" as const, from, to: handoff.from, re, attempt: 1, body };
  return signEnvelope(createReply(handoff, reply, { now: Date.now, newId }), key);
}

function altered(genuine: string): string {
  const [header, payload, signature] = genuine.split(".") as [string, string, string];
  const envelope = JSON.parse(Buffer.from(payload, "base64url").toString()) as {
    body: { output: unknown };
  };
  envelope.body.output = OUTPUT;
  const changed = Buffer.from(JSON.stringify(envelope)).toString("base64url");
  return [header, changed, signature].join(".");
}

async function submit(forgery: string, envelope: string): Promise<Attempted> {
  const response = await fetch(`${seat.hub}/v1/envelopes`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ envelope }),
  });
  const { detail = "" } = (await response.json()) as { detail?: string };
  return { forgery, digest: digestOfJws(envelope), status: response.status, message: detail };
}
