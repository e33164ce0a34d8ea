/// <reference types="node" />
import { createAgent } from "@waybill/agent";
import type { Agent } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import type { ConnectedHub } from "@waybill/agent/connect";
import { generateKey, WaybillError } from "@waybill/protocol";

export interface Tally {
  made: number;
  /** Ended with exactly the expected answer, and acknowledged. */
  completed: number;
  /** How often recipients have worked, repeats after a kill included. */
  worked: number;
  readonly wrong: string[];
}

/** Later than any run takes: slow work is not lost. */
const TIMEOUT_MS = 600_000;
const LEASE_SECONDS = 60;
const ATTEMPTS = 20;
const CREDIT = 64;
/** How many agents connect at the same time. */
const COMING_AT_ONCE = 20;

/** Agents connected to one hub, each of which hands off to random others. */
export class Crowd {
  readonly tally: Tally = { made: 0, completed: 0, worked: 0, wrong: [] };
  readonly #agents: Agent[] = [];
  readonly #lines: ConnectedHub[] = [];

  static async of(count: number, url: string): Promise<Crowd> {
    const crowd = new Crowd();
    const names = Array.from({ length: count }, (_, index) => `agent-${index}`);
    for (let next = 0; next < count; next += COMING_AT_ONCE) {
      const coming = names.slice(next, next + COMING_AT_ONCE);
      await Promise.all(coming.map((id) => crowd.#join(id, url)));
    }
    return crowd;
  }

  async #join(id: string, url: string): Promise<void> {
    const hub = await connect(url, { timeoutMs: TIMEOUT_MS });
    const agent = createAgent({ id, key: generateKey(), hub, credit: CREDIT });
    const terms = { lease_seconds: LEASE_SECONDS, max_attempts: ATTEMPTS };
    agent.serve<number>({ name: "double", ...terms }, ({ input }) => {
      this.tally.worked++;
      return 2 * input;
    });
    await comeIn(agent);
    this.#agents.push(agent);
    this.#lines.push(hub);
  }

  /** Each agent hands off, one handoff at a time, until the time is over and the last one has ended. */
  async work(until: number): Promise<void> {
    await Promise.all(this.#agents.map((agent) => this.#handOff(agent, until)));
  }

  async #handOff(agent: Agent, until: number): Promise<void> {
    while (Date.now() < until) {
      const input = this.tally.made++;
      try {
        const handoff = agent.handoff({
          to: this.#another(agent).id,
          capability: "double",
          input,
          timeoutMs: TIMEOUT_MS,
          acknowledge: "manual",
        });
        const { output } = await handoff.result;
        if (output !== 2 * input)
          throw new Error(`${input} came back as ${JSON.stringify(output)}`);
        await handoff.acknowledge();
        this.tally.completed++;
      } catch (error) {
        this.tally.wrong.push(`${agent.id}: ${(error as Error).message}`);
      }
    }
  }

  #another(agent: Agent): Agent {
    for (;;) {
      const other = this.#agents[Math.floor(Math.random() * this.#agents.length)]!;
      if (other !== agent) return other;
    }
  }

  async leave(): Promise<void> {
    await Promise.all(this.#agents.map((agent) => agent.stop()));
    await Promise.all(this.#lines.map((line) => line.close()));
  }
}

/** While hundreds connect, a hub may be too busy for one of them. */
async function comeIn(agent: Agent): Promise<void> {
  const until = Date.now() + TIMEOUT_MS;
  for (;;) {
    try {
      return await agent.start();
    } catch (error) {
      if (!WaybillError.is(error, 503) || Date.now() > until) throw error;
    }
  }
}
