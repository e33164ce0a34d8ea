import { digestOfJws, signEnvelope, verifyEnvelope, WaybillError } from "@waybill/protocol";
import type { Envelope, VerifiedEnvelope } from "@waybill/protocol";
import { post } from "../hub/hub.ts";
import { proofBy, signedWith } from "../trust/browser-key.ts";
import { Trust } from "../trust/check.ts";
import type { Person } from "./person.ts";

const TRIES = 5;
const AGAIN_MS = 1_000;

/** What a person sends and receives: signed by them, and checked in this browser. */
export class Post {
  readonly who: Person;
  readonly #trust: Trust;

  constructor(who: Person) {
    this.who = who;
    this.#trust = new Trust(who.hub);
  }

  /**
   * Signs an envelope and sends it until the hub has signed for it. The bytes are the same each time,
   * so that the hub takes them once.
   */
  async submit(envelope: Envelope): Promise<void> {
    const text = await signedWith(this.who, (key) => signEnvelope(envelope, key));
    for (let tries = 1; ; tries++) {
      try {
        const { receipt } = await post<{ receipt: string }>(
          "/v1/envelopes",
          { envelope: text },
          proofBy(this.who),
        );
        return await this.#checkReceipt(receipt, text);
      } catch (error) {
        if (!WaybillError.is(error, 503) || tries === TRIES) throw error;
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS * tries));
      }
    }
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

  /** Checks who signed an envelope; `at` is when the hub took it in. */
  async verify(
    text: string,
    from: string,
    { at = Date.now(), to }: { readonly at?: number; readonly to?: string | undefined } = {},
  ): Promise<VerifiedEnvelope> {
    const { domain } = this.who;
    const once = async () => {
      const { keyOf } = await this.#trust.keysOf([from]);
      return verifyEnvelope(text, { keyOf, at, to, domain });
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
