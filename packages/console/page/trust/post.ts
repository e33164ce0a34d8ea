import {
  batchRoots,
  digestOfJws,
  parseTime,
  signEnvelope,
  verifyEnvelope,
  WaybillError,
} from "@waybill/protocol";
import type { Envelope, HandoffEnvelope, VerifiedEnvelope } from "@waybill/protocol";
import type { WireHandoffView } from "@waybill/protocol/wire";
import { get, post } from "../hub/hub.ts";
import { proofBy, signedWith } from "./browser-key.ts";
import type { BrowserAgent } from "./browser-key.ts";
import { Trust } from "./check.ts";

/** Does work until it succeeds, or throws its last error. */
export type Retry = <Value>(work: () => Promise<Value>) => Promise<Value>;

interface SubmitOptions {
  /** Where to; by default where every envelope may go. */
  readonly path?: string;
  /** By default a few times while the hub does not answer. */
  readonly retry?: Retry | undefined;
}

const TRIES = 5;
const AGAIN_MS = 1_000;

/** What an agent of this browser sends and receives: signed by it, and checked in this browser. */
export class Post {
  readonly who: BrowserAgent;
  readonly #trust: Trust;
  /** Receipts of one turn of the hub share a signature. */
  readonly #roots = batchRoots();

  constructor(who: BrowserAgent) {
    this.who = who;
    this.#trust = new Trust(who.hub);
  }

  /**
   * Signs an envelope and sends it until the hub has signed for it. The bytes are the same each time,
   * so that the hub takes them once.
   */
  async submit(
    envelope: Envelope,
    { path = "/v1/envelopes", retry = whileGone }: SubmitOptions = {},
  ): Promise<void> {
    const text = await signedWith(this.who, (key) => signEnvelope(envelope, key));
    await retry(async () => {
      const prove = proofBy(this.who);
      const { receipt } = await post<{ receipt: string }>(path, { envelope: text }, prove);
      await this.#checkReceipt(receipt, text);
    });
  }

  async #checkReceipt(receipt: string, text: string): Promise<void> {
    const { hub, agent } = this.who;
    const { envelope } = await this.verify(receipt, hub, { to: agent });
    if (envelope.kind === "receipt" && envelope.re === digestOfJws(text)) return;
    throw new WaybillError(
      401,
      `The hub ${hub} signed for something else than what was sent. Do not rely on it: open the record of the handoff to see what it has.`,
    );
  }

  /** A handoff of this agent, as it has signed it. */
  async ownHandoff(id: string): Promise<HandoffEnvelope> {
    const path = `/v1/handoffs/${encodeURIComponent(id)}`;
    const view = await get<WireHandoffView>(path, undefined, proofBy(this.who));
    const { envelope } = await this.verifyReceived(view.envelope, this.who.agent, view);
    if (envelope.kind === "handoff" && envelope.handoff_id === id) return envelope;
    throw new WaybillError(401, `The hub shows another handoff than ${id}.`);
  }

  /** Checks an envelope from a delivery or a view, by the keys of when the hub took it in. */
  verifyReceived(
    text: string,
    from: string,
    { received_at: times }: Pick<WireHandoffView, "received_at">,
  ): Promise<VerifiedEnvelope> {
    const received = Object.values(times).map((each) => parseTime(each) ?? Infinity);
    return this.verify(text, from, { at: Math.min(Date.now(), ...received) });
  }

  /** Checks who signed an envelope; `at` is when the hub took it in. */
  async verify(
    text: string,
    from: string,
    { at = Date.now(), to }: { readonly at?: number; readonly to?: string | undefined } = {},
  ): Promise<VerifiedEnvelope> {
    const { domain } = this.who;
    const once = async () => {
      const { keyOf } = await this.#trust.keysOf([from]);
      return verifyEnvelope(text, { keyOf, at, to, domain, roots: this.#roots });
    };
    try {
      return await once();
    } catch {
      // The agent may have a new key since its manifests were read.
      this.#trust.forget(from);
      return once();
    }
  }
}

async function whileGone<Value>(work: () => Promise<Value>): Promise<Value> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!WaybillError.is(error, 503) || tries === TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS * tries));
    }
  }
}
