import { createAgent } from "@waybill/agent";
import type { Agent } from "@waybill/agent";
import { WaybillError } from "@waybill/protocol";
import { AgentSite } from "../agent/agent-site.ts";
import type { AgentOptions, ProcessResources, AgentProcess } from "../agent/agent-site.ts";
import { AgentDisk } from "../agent/agent-disk.ts";
import { keyOf } from "../world/world.ts";
import { handlerOf } from "./handler.ts";
import { RealDelegator } from "./real-delegator.ts";
import type { TrackedHandoff } from "./real-delegator.ts";
import { WatchedLine } from "./watched-line.ts";

/** An agent as in an application: `@waybill/agent`, in an application that crashes. */
export function realAgent(options: AgentOptions): AgentSite {
  const { id, world } = options;
  // Without offers it takes no work.
  const credit = options.offers.length === 0 ? 0 : options.credit;
  return new AgentSite({ ...options, credit }, (site) => {
    const random = world.random.stream(`${id} disk`);
    const agentDisk = new AgentDisk<TrackedHandoff>(world, random, () => site.crash());
    return (resources) => new RealAgent(options, resources, agentDisk);
  });
}

class RealAgent implements AgentProcess {
  readonly delegator: RealDelegator;
  readonly #resources: ProcessResources;
  readonly #line: WatchedLine;
  readonly #agent: Agent;

  constructor(
    options: AgentOptions,
    resources: ProcessResources,
    agentDisk: AgentDisk<TrackedHandoff>,
  ) {
    const { id, world, offers, credit } = options;
    const { process } = resources;
    const { clock, newId, newSalt } = process;
    this.#resources = resources;
    this.#line = new WatchedLine(id, world, resources.line);
    this.#agent = createAgent({
      id,
      key: keyOf(id),
      hub: this.#line,
      credit,
      clock,
      newId,
      newSalt,
      log: ({ event, handoffId = "", attempt = "", status = "", error }) => {
        if (!process.isAlive) return;
        const why = error === undefined ? "" : ` ${WaybillError.from(error).message}`;
        world.trace.note(`${id} ${event} ${handoffId} ${attempt} ${status}${why}`);
      },
    });
    this.delegator = new RealDelegator(id, world, resources, this.#agent, agentDisk);
    for (const offer of offers) {
      this.#agent.serve(offer, handlerOf(options, resources, this.delegator));
    }
  }

  get isAttached(): boolean {
    return this.#line.isAttached;
  }

  async begin(): Promise<void> {
    const { process, random } = this.#resources;
    for (;;) {
      try {
        await this.#agent.start();
        break;
      } catch (error) {
        if (!WaybillError.is(error, 503)) throw error;
      }
      await process.sleep(random.between(50, 1_500));
    }
    this.delegator.resume();
  }
}
