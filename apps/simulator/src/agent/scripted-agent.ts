import type { Attachment, Delivery } from "@waybill/hub";
import {
  digestOfJws,
  parseEnvelope,
  readCompact,
  signCompact,
  signManifest,
  stringifyJson,
  WaybillError,
} from "@waybill/protocol";
import type { HandoffEnvelope } from "@waybill/protocol";
import { DOMAIN, HUB_ID } from "../hub/hub-site.ts";
import { keyOf } from "../world/world.ts";
import { AgentSite } from "./agent-site.ts";
import type { AgentOptions, ProcessResources, AgentProcess } from "./agent-site.ts";
import { Delegator } from "./delegator.ts";
import type { HandoffNote } from "./handoff-note.ts";
import { AgentDisk } from "./agent-disk.ts";
import { Recipient } from "./recipient.ts";
import { Running } from "./running.ts";
import { childOf, mayHaveChildren } from "./workload.ts";

/** An agent that speaks the protocol without the SDK, and sometimes breaks its rules. */
export function scriptedAgent(options: AgentOptions): AgentSite {
  const { id, world, offers } = options;
  return new AgentSite(options, (site) => {
    const random = world.random.stream(`${id} disk`);
    const agentDisk = new AgentDisk<HandoffNote>(world, random, () => site.crash());
    const manifest = signManifest({ agent_id: id, capabilities: [...offers] }, keyOf(id));
    return (resources) => new ScriptedAgent(options, resources, agentDisk, manifest);
  });
}

class ScriptedAgent implements AgentProcess {
  readonly delegator: Delegator;
  readonly #options: AgentOptions;
  readonly #agent: Running;
  readonly #recipient: Recipient;
  readonly #manifest: string;
  #attachment: Attachment | undefined;

  constructor(
    options: AgentOptions,
    resources: ProcessResources,
    agentDisk: AgentDisk<HandoffNote>,
    manifest: string,
  ) {
    const { id, world, target } = options;
    this.#options = options;
    this.#manifest = manifest;
    this.#agent = new Running({ ...resources, id, world, agentDisk, target });
    this.delegator = new Delegator(this.#agent);
    this.#recipient = new Recipient(this.#agent, {
      attachment: () => this.#attachment,
      child: (parent) => this.#child(parent),
    });
  }

  get isAttached(): boolean {
    return this.#attachment !== undefined;
  }

  async begin(): Promise<void> {
    await this.#insist(() => this.#agent.line.publish(this.#manifest));
    this.#guard(this.#stayAttached());
    await this.delegator.resume();
  }

  async #stayAttached(): Promise<void> {
    const { id, process, line, key } = this.#agent;
    const { credit } = this.#options;
    const instance = process.newId();
    for (;;) {
      const attachment = await this.#insist(() => {
        const at = new Date(process.clock.now()).toISOString();
        const hello = { waybill: 1, kind: "hello", from: id, to: HUB_ID, domain: DOMAIN, instance };
        const text = stringifyJson({ ...hello, id: process.newId(), at });
        const request = { agent: id, credit, instance, proof: signCompact(text, key) };
        return line.attach(request, (delivery) => this.#guard(this.#take(delivery)));
      });
      this.#attachment = attachment;
      await attachment.closed;
      this.#attachment = undefined;
    }
  }

  async #insist<Value>(run: () => Promise<Value>): Promise<Value> {
    const { process, random } = this.#agent;
    for (;;) {
      try {
        return await run();
      } catch (error) {
        if (!WaybillError.is(error, 503)) throw error;
      }
      await process.sleep(random.between(50, 1_500));
    }
  }

  async #take(delivery: Delivery): Promise<void> {
    if (delivery.type === "offer") return this.#recipient.offer(delivery);
    if (delivery.type === "stop") return this.#recipient.stop(delivery);
    const { envelope: text, handoff_id: handoffId, id } = delivery;
    const envelope = parseEnvelope(readCompact(text).payload);
    if (envelope.kind === "answer") this.#recipient.answered(handoffId, text);
    else await this.delegator.receive(envelope, digestOfJws(text));
    this.#attachment?.seen(id);
  }

  /** A part of the work goes to a colleague; often the parent waits for its end. */
  async #child(parent: HandoffEnvelope): Promise<void> {
    const { random } = this.#agent;
    if (!mayHaveChildren(parent)) return;
    const child = await this.delegator.handOff(childOf(random, this.#options.colleagues, parent));
    if (child !== undefined && random.chance(0.7)) await this.delegator.endOf(child.handoff_id);
  }

  #guard(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#options.world.fault(error));
  }
}
