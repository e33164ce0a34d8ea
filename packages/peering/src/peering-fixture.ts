import { createAgent } from "@waybill/agent";
import type { Agent, AgentOptions } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import { memoryStore, openHub } from "@waybill/hub";
import type { HubServer, Store } from "@waybill/hub";
import { serveHub } from "@waybill/server";
import { generateKey } from "@waybill/protocol";

/** A served hub, its store, and agents that are connected to it over the wire. */
export class Place {
  readonly hub: HubServer;
  readonly store: Store;
  readonly url: string;
  readonly #closing: (() => Promise<void>)[];

  constructor(hub: HubServer, store: Store, url: string, closing: (() => Promise<void>)[]) {
    this.hub = hub;
    this.store = store;
    this.url = url;
    this.#closing = closing;
  }

  static async open(id: string): Promise<Place> {
    const store = memoryStore();
    const hub = await openHub({ store, key: generateKey(), id });
    const served = await serveHub({ hub, store });
    return new Place(hub, store, served.url, [() => hub.close(), () => served.close()]);
  }

  async agent(id: string, serve: (agent: Agent) => void = () => undefined): Promise<Agent> {
    const hub = await connect(this.url);
    const options: AgentOptions = { id, key: generateKey(), hub };
    const agent = createAgent(options);
    serve(agent);
    await agent.start();
    this.#closing.push(
      () => hub.close(),
      async () => void (await agent.stop({ mode: "release" })),
    );
    return agent;
  }

  /** Every handoff ever made here. */
  async handoffs(): Promise<string[]> {
    const entries = await this.store.ledger({ after: 0, limit: 100_000 });
    return [...new Set(entries.flatMap(({ handoffId }) => handoffId ?? []))];
  }

  async close(): Promise<void> {
    for (const step of this.#closing.splice(0).toReversed()) await step();
  }
}
