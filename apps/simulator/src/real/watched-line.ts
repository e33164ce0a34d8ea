import type { AttachRequest, Attachment, Delivery, Hub } from "@waybill/hub";
import { digestOfJws, parseEnvelope, readCompact, WaybillError } from "@waybill/protocol";
import type { Line } from "../hub/line.ts";
import type { World } from "../world/world.ts";

/**
 * A line to the hub that records what the judge must know: which receipts each agent holds, and which
 * agents are alive.
 */
export class WatchedLine implements Hub {
  readonly id: string;
  readonly domain: string;
  readonly #agent: string;
  readonly #world: World;
  readonly #line: Line;
  readonly #open = new Set<Attachment>();

  constructor(agent: string, world: World, line: Line) {
    this.id = line.id;
    this.domain = line.domain;
    this.#agent = agent;
    this.#world = world;
    this.#line = line;
  }

  get isAttached(): boolean {
    return this.#open.size > 0;
  }

  async submit(text: string, as?: string): Promise<string> {
    const envelope = parseEnvelope(readCompact(text).payload);
    const { handoff_id: handoffId, kind } = envelope;
    if ("attempt" in envelope && envelope.attempt !== undefined) {
      this.#sign(handoffId, envelope.attempt);
    }
    try {
      const receiptText = await this.#line.submit(text, as);
      const receipt = parseEnvelope(readCompact(receiptText).payload);
      const status = receipt.kind === "receipt" ? receipt.body.status : 100;
      const held = { holder: this.#agent, handoffId, digest: digestOfJws(text), kind, status };
      this.#world.receipts.push({ ...held, text: receiptText });
      return receiptText;
    } catch (error) {
      const refusal = WaybillError.from(error);
      if (refusal.status === 500) {
        const message = `The hub failed over a ${kind} of ${this.#agent}: ${refusal.message} ${String(refusal.cause)}`;
        this.#world.breach("hub_failed", handoffId, message);
      }
      throw error;
    }
  }

  publish(manifest: string): Promise<void> {
    return this.#line.publish(manifest);
  }

  manifests(query: Parameters<Hub["manifests"]>[0]): ReturnType<Hub["manifests"]> {
    return this.#line.manifests(query);
  }

  find(query: Parameters<Hub["find"]>[0]): ReturnType<Hub["find"]> {
    return this.#line.find(query);
  }

  handoff(id: string, as: string): ReturnType<Hub["handoff"]> {
    return this.#line.handoff(id, as);
  }

  async attach(request: AttachRequest, handler: (delivery: Delivery) => void): Promise<Attachment> {
    const attachment = await this.#line.attach(request, (delivery) => {
      if (delivery.type === "offer") {
        const { handoff_id: handoffId, attempt } = delivery;
        this.#world.offers.push({ handoffId, attempt, agent: this.#agent });
      }
      handler(delivery);
    });
    this.#open.add(attachment);
    void attachment.closed.then(() => this.#open.delete(attachment));
    return {
      ...attachment,
      taken: (id, attempt) => {
        this.#sign(id, attempt);
        attachment.taken(id, attempt);
      },
      heartbeat: (id, attempt) => {
        this.#sign(id, attempt);
        attachment.heartbeat(id, attempt);
      },
    };
  }

  #sign(handoffId: string, attempt: number): void {
    this.#world.signsOfLife.set(`${handoffId}/${attempt}`, this.#world.now);
  }
}
