import type { Attachment, Delivery } from "@waybill/hub";
import {
  digestOf,
  parseEnvelope,
  readCompact,
  signCompact,
  signManifest,
  stringifyJson,
  WaybillError,
} from "@waybill/protocol";
import type { Capability, HandoffEnvelope } from "@waybill/protocol";
import type { Cluster } from "../hub/cluster.ts";
import { HUB_ID } from "../hub/hub-site.ts";
import { Line } from "../hub/line.ts";
import { Process } from "../world/process.ts";
import type { WallClock } from "../world/process.ts";
import type { Random } from "../world/random.ts";
import { keyOf } from "../world/world.ts";
import type { World } from "../world/world.ts";
import { Delegator } from "./delegator.ts";
import { Notebook } from "./notebook.ts";
import { Recipient } from "./recipient.ts";
import { Running } from "./running.ts";
import type { Target } from "./target.ts";
import { childOf, mayHaveChildren } from "./workload.ts";

export type Offered = Pick<Capability, "name" | "lease_seconds" | "max_attempts">;

export interface AgentOptions {
  readonly id: string;
  readonly world: World;
  readonly cluster: Cluster;
  readonly target: Target;
  readonly offers: readonly Offered[];
  readonly colleagues: readonly string[];
  readonly credit: number;
}

/** One run of an agent, with all that it has in memory. */
interface Life {
  readonly agent: Running;
  readonly delegator: Delegator;
  readonly recipient: Recipient;
  attachment: Attachment | undefined;
}

/** An agent: its name, its key and its disk, and the processes that run one after the other. */
export class AgentSite {
  readonly id: string;
  readonly notebook: Notebook;
  readonly wall: WallClock = { offsetMs: 0 };
  readonly credit: number;
  hasLeft = false;
  readonly #options: AgentOptions;
  readonly #random: Random;
  readonly #manifest: string;
  #life: Life | undefined;
  #starts = 0;

  constructor(options: AgentOptions) {
    const { id, world, offers, credit } = options;
    this.id = id;
    this.credit = credit;
    this.#options = options;
    this.#random = world.random.stream(id);
    this.notebook = new Notebook(world, this.#random, () => this.crash());
    this.#manifest = signManifest({ agent_id: id, capabilities: [...offers] }, keyOf(id));
  }

  /** The run that is under way. */
  get delegator(): Delegator | undefined {
    return this.#life?.delegator;
  }

  /** How much more it would take, as far as it knows; undefined while nobody reaches it. */
  get room(): number | undefined {
    const life = this.#life;
    return life?.attachment === undefined ? undefined : this.credit - life.recipient.busy;
  }

  start(): void {
    if (this.#life !== undefined || this.hasLeft) return;
    const { world, cluster, target } = this.#options;
    const random = this.#random.stream(`${this.id} run ${this.#starts++}`);
    const process = new Process(world.scheduler, this.wall, random);
    const line = new Line(world, cluster, process, random);
    const agent = new Running({
      id: this.id,
      world,
      process,
      line,
      random,
      notebook: this.notebook,
      target,
    });
    const delegator = new Delegator(agent);
    const recipient = new Recipient(agent, {
      attachment: () => life.attachment,
      child: (parent) => this.#child(life, parent),
    });
    const life: Life = { agent, delegator, recipient, attachment: undefined };
    this.#life = life;
    world.trace.note(`${this.id} starts`);
    this.#guard(this.#live(life));
  }

  crash(): void {
    const life = this.#life;
    if (life === undefined) return;
    const { world } = this.#options;
    world.trace.note(`${this.id} crashes`);
    world.crashes++;
    this.#life = undefined;
    life.agent.process.crash();
    life.agent.line.abandon();
    const waitMs = world.isFaulty ? this.#random.spread(20, 15_000) : 20;
    world.scheduler.after(waitMs, () => this.start());
  }

  leave(): void {
    this.hasLeft = true;
    this.crash();
  }

  async #live(life: Life): Promise<void> {
    await this.#insist(life, () => life.agent.line.publish(this.#manifest));
    this.#guard(this.#stayAttached(life));
    await life.delegator.resume();
  }

  async #stayAttached(life: Life): Promise<void> {
    const { id, process, line, key } = life.agent;
    const instance = process.newId();
    for (;;) {
      const attachment = await this.#insist(life, () => {
        const at = new Date(process.clock.now()).toISOString();
        const hello = {
          waybill: 1,
          kind: "hello",
          from: id,
          to: HUB_ID,
          instance,
          id: process.newId(),
          at,
        };
        const proof = signCompact(stringifyJson(hello), key);
        const request = { agent: id, credit: this.credit, instance, proof };
        return line.attach(request, (delivery) => this.#guard(this.#take(life, delivery)));
      });
      life.attachment = attachment;
      await attachment.closed;
      life.attachment = undefined;
    }
  }

  async #insist<Value>(life: Life, run: () => Promise<Value>): Promise<Value> {
    for (;;) {
      try {
        return await run();
      } catch (error) {
        if (!WaybillError.is(error, 503)) throw error;
      }
      await life.agent.process.sleep(this.#random.between(50, 1_500));
    }
  }

  async #take(life: Life, delivery: Delivery): Promise<void> {
    const { delegator, recipient } = life;
    if (delivery.type === "offer") return recipient.offer(delivery);
    if (delivery.type === "stop") return recipient.stop(delivery);
    const { envelope: text, handoffId, id } = delivery;
    const envelope = parseEnvelope(readCompact(text).payload);
    if (envelope.kind === "answer") recipient.answered(handoffId, text);
    else await delegator.receive(envelope, digestOf(text));
    life.attachment?.seen(id);
  }

  /** A part of the work goes to a colleague; often its end is waited for. */
  async #child({ agent, delegator }: Life, parent: HandoffEnvelope): Promise<void> {
    const { colleagues } = this.#options;
    if (!mayHaveChildren(parent)) return;
    const child = await delegator.handOff(childOf(agent.random, colleagues, parent));
    if (child !== undefined && agent.random.chance(0.7)) await delegator.endOf(child.handoff_id);
  }

  #guard(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      this.#options.world.breach("simulator", "", String((error as Error).stack));
    });
  }
}
