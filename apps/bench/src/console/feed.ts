/// <reference types="node" />
import { createHash } from "node:crypto";
import { newId } from "@waybill/protocol";
import type { WireEntry } from "@waybill/protocol/wire";

/** How many entries of a ledger one handoff makes here. */
export const ENTRIES_PER_HANDOFF = 4;

const DIGEST = `sha256:${createHash("sha256").digest("hex")}`;
const HEADER = Buffer.from("{}").toString("base64url");

/**
 * The entries of handoffs from custody to result, in the shape in which a hub streams them. They are
 * not signed: lists show what a hub says, and check nothing.
 */
export class Feed {
  #sequence: number;
  #count = 0;

  constructor(after: number) {
    this.#sequence = after;
  }

  /** The lines of the next handoff. */
  next(): string {
    const id = newId();
    const number = ++this.#count;
    const delegator = `editor-${number % 50}`;
    const recipient = `reviewer-${number % 200}`;
    const at = new Date();
    const from = (agent: string, kind: string, members: object) =>
      this.#entry(id, agent, {
        waybill: 1,
        kind,
        id: newId(),
        from: agent,
        handoff_id: id,
        issued_at: at.toISOString(),
        ...members,
      });
    return [
      from(delegator, "handoff", {
        to: recipient,
        correlation_id: id,
        deadline: new Date(at.getTime() + 60_000).toISOString(),
        body: { capability: "review", input: { page: number } },
      }),
      this.#line(
        { type: "decision", from: null, content: JSON.stringify({ type: "offer", recipient }) },
        id,
      ),
      from(recipient, "receipt", { to: delegator, attempt: 1, body: { status: 101 } }),
      from(recipient, "result", {
        to: delegator,
        attempt: 1,
        body: { status: 200, output: { verdict: "good" } },
      }),
    ].join("");
  }

  #entry(handoff: string, from: string, payload: object): string {
    const encoded = Buffer.from(JSON.stringify(payload)).toString("base64url");
    return this.#line({ type: "envelope", from, content: `${HEADER}.${encoded}.` }, handoff);
  }

  #line(given: Pick<WireEntry, "type" | "from" | "content">, handoff: string): string {
    const entry: WireEntry = {
      sequence: ++this.#sequence,
      at: new Date().toISOString(),
      handoff_id: handoff,
      id: null,
      digest: DIGEST,
      hash: DIGEST,
      ...given,
    };
    return `${JSON.stringify(entry)}\n`;
  }
}
