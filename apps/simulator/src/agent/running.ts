import {
  digestOfJws,
  parseEnvelope,
  readCompact,
  signEnvelope,
  verifyEnvelope,
  WaybillError,
} from "@waybill/protocol";
import type { Envelope, PrivateKey, Source } from "@waybill/protocol";
import { publicKeyFrom } from "@waybill/protocol";
import { HUB_ID } from "../hub/hub-site.ts";
import type { Line } from "../hub/line.ts";
import type { Process } from "../world/process.ts";
import type { Random } from "../world/random.ts";
import type { World } from "../world/world.ts";
import { keyOf } from "../world/world.ts";
import type { HandoffNote } from "./handoff-note.ts";
import type { AgentDisk } from "./agent-disk.ts";
import type { Target } from "./target.ts";

const WAIT_MS = { first: 50, most: 4_000 } as const;
const PATIENCE_MS = 30_000;
/**
 * The share of signatures that are checked: checking costs more than everything else, and its outcome
 * is not random.
 */
const VERIFIED = 0.05;

export type RunningParts = Pick<
  Running,
  "id" | "world" | "process" | "line" | "random" | "agentDisk" | "target"
>;

/** The resources of one agent process. */
export class Running {
  readonly id: string;
  readonly key: PrivateKey;
  readonly world: World;
  readonly process: Process;
  readonly line: Line;
  readonly random: Random;
  readonly agentDisk: AgentDisk<HandoffNote>;
  readonly target: Target;
  readonly source: Source;

  constructor(parts: RunningParts) {
    this.id = parts.id;
    this.key = keyOf(parts.id);
    this.world = parts.world;
    this.process = parts.process;
    this.line = parts.line;
    this.random = parts.random;
    this.agentDisk = parts.agentDisk;
    this.target = parts.target;
    const { clock, newId, newSalt } = parts.process;
    this.source = { now: () => clock.now(), newId, newSalt };
  }

  send(envelope: Envelope, until?: number): Promise<WaybillError | undefined> {
    return this.sendText(signEnvelope(envelope, this.key), until);
  }

  /** Sends the same bytes until the hub has signed for them or has refused them finally. */
  async sendText(
    text: string,
    until: number = this.world.lastDeadline + PATIENCE_MS,
  ): Promise<WaybillError | undefined> {
    for (let wait: number = WAIT_MS.first; ; wait = Math.min(2 * wait, WAIT_MS.most)) {
      try {
        this.#keep(text, await this.line.submit(text, this.id));
        return undefined;
      } catch (error) {
        const refusal = WaybillError.from(error);
        if (refusal.status === 500) this.#fault(text, refusal);
        if (refusal.status !== 503 || this.world.now > until) return refusal;
      }
      await this.process.sleep(wait + this.random.below(wait));
    }
  }

  #keep(text: string, receiptText: string): void {
    const digest = digestOfJws(text);
    const receipt = this.random.chance(VERIFIED)
      ? verifyEnvelope(receiptText, {
          keyOf: () => hubKey(),
          at: this.process.clock.now(),
          to: this.id,
        }).envelope
      : parseEnvelope(readCompact(receiptText).payload);
    const { handoff_id: handoffId, kind } = parseEnvelope(readCompact(text).payload);
    const confirmed = receipt.kind === "receipt" ? [receipt, ...(receipt.body.also ?? [])] : [];
    const isConfirmed = confirmed.some(
      ({ handoff_id: id, re }) => id === handoffId && re === digest,
    );
    if (receipt.kind !== "receipt" || !isConfirmed || receipt.from !== HUB_ID) {
      this.world.breach(
        "receipt_of_another",
        handoffId,
        `${this.id} got a receipt for another ${kind}.`,
      );
      return;
    }
    const { status, refused = [] } = receipt.body;
    for (const each of refused) {
      const message = `${this.id} has committed its end, and the hub answers the acknowledgement ${each.status}.`;
      this.world.breach("acknowledgement_refused", each.handoff_id, message);
    }
    this.world.receipts.push({
      holder: this.id,
      handoffId,
      digest,
      kind,
      status,
      text: receiptText,
    });
  }

  #fault(text: string, refusal: WaybillError): void {
    const { handoff_id: handoffId, kind } = parseEnvelope(readCompact(text).payload);
    const message = `The hub failed over a ${kind} of ${this.id}: ${refusal.message} ${String(refusal.cause)}`;
    this.world.breach("hub_failed", handoffId, message);
  }
}

let record: ReturnType<Parameters<typeof verifyEnvelope>[1]["keyOf"]>;

function hubKey(): typeof record {
  record ??= {
    agent: HUB_ID,
    key: publicKeyFrom(keyOf(HUB_ID).jwk),
    notBefore: 0,
    notAfter: Infinity,
  };
  return record;
}
