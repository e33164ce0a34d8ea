import { readCompact, verifyCompact, WaybillError } from "@waybill/protocol";
import { checkHello, endedKeyAdvice, newKeyAdvice, readHello } from "@waybill/protocol/wire";
import type { Hello } from "@waybill/protocol/wire";
import type { HubIdentity } from "./identity.ts";
import type { Registry } from "./registry.ts";

/** Verifies hellos. A used one is refused from then on, so that an eavesdropper can't attach with it. */
export class HelloVerifier {
  readonly #hub: HubIdentity;
  readonly #registry: Registry;
  readonly #skewMs: number;
  /** The used hellos that would still be valid, by id. */
  readonly #used = new Map<string, number>();

  constructor(hub: HubIdentity, registry: Registry, skewMs: number) {
    this.#hub = hub;
    this.#registry = registry;
    this.#skewMs = skewMs;
  }

  /** Returns the time of the hello, by the agent's clock, and its key. */
  async check(
    proof: string,
    agent: string,
    instance: string,
    now: number,
  ): Promise<{ readonly at: number; readonly kid: string }> {
    const { kid } = readCompact(proof);
    const record = await this.#registry.keyOf(kid);
    if (record === undefined) {
      throw new WaybillError(
        401,
        `${agent} is not known here by the key ${kid}. ${newKeyAdvice(agent, kid)}`,
      );
    }
    const { payload } = verifyCompact(proof, () => record.key);
    const hello = readHello(payload);
    if (hello.from !== agent || hello.instance !== instance) {
      throw new WaybillError(
        401,
        `The hello is from ${hello.from} (${hello.instance}), but ${agent} (${instance}) wants to attach.`,
      );
    }
    const { id: to, domain } = this.#hub;
    checkHello(hello, { to, domain, now, clockSkewMs: this.#skewMs });
    if (record.agent !== agent || now < record.notBefore || now >= record.notAfter) {
      throw new WaybillError(
        401,
        `The key ${kid} is not a current key of ${agent}: a manifest, an operator or its validity period has ended it. ${endedKeyAdvice(agent)}`,
      );
    }
    this.#use(hello, now);
    return { at: hello.at, kid };
  }

  #use({ id, at }: Hello, now: number): void {
    for (const [used, usedAt] of this.#used) {
      if (usedAt + this.#skewMs >= now) break;
      this.#used.delete(used);
    }
    if (this.#used.has(id)) {
      throw new WaybillError(401, "This hello was already used; sign a new one each time.");
    }
    this.#used.set(id, Math.max(at, now));
  }
}
