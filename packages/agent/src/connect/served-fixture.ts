/// <reference types="node" />
import { ledgerHistory, memoryStore, openHub } from "@waybill/hub";
import type { HubServer, Store } from "@waybill/hub";
import { serveHub } from "@waybill/server";
import type { ServedHub, ServeOptions } from "@waybill/server";
import { generateKey } from "@waybill/protocol";
import { checkHistory } from "@waybill/protocol/audit";
import type { PrivateKey } from "@waybill/protocol";
import type { HistoryEntry } from "@waybill/protocol/audit";
import { createAgent } from "../agent.ts";
import type { Agent } from "../agent.ts";
import type { AgentLogEvent } from "../log.ts";
import { connect } from "./connect.ts";
import type { ConnectedHub, ConnectOptions } from "./connect.ts";
import { Proxy } from "./proxy-fixture.ts";

/** A served hub, the proxies in front of it and the agents behind those; all of it ends with the test. */
export class Network {
  readonly store: Store = memoryStore();
  readonly key: PrivateKey = generateKey();
  readonly #options: Partial<ServeOptions>;
  readonly #endings: (() => Promise<unknown>)[] = [];
  #hub: HubServer | undefined;
  #served: ServedHub | undefined;

  private constructor(options: Partial<ServeOptions>) {
    this.#options = options;
  }

  static async open(options: Partial<ServeOptions> = {}): Promise<Network> {
    const network = new Network(options);
    await network.up();
    return network;
  }

  get hub(): HubServer {
    return this.#hub!;
  }

  get url(): string {
    return this.#served!.url;
  }

  async up(key: PrivateKey = this.key, store: Store = this.store, port = 0): Promise<void> {
    this.#hub = await openHub({ store, key, id: "hub" });
    this.#served = await serveHub({ hub: this.#hub, store, port, ...this.#options });
  }

  /** Takes the hub down; its port is free again. */
  async down(): Promise<number> {
    const { port } = this.#served!;
    await this.#served!.close();
    await this.#hub!.close();
    return port;
  }

  async proxy(): Promise<Proxy> {
    const proxy = await Proxy.open(() => this.#served!.port);
    this.#endings.unshift(() => proxy.close());
    return proxy;
  }

  async connect(url: string = this.url, options: ConnectOptions = {}): Promise<ConnectedHub> {
    const hub = await connect(url, options);
    this.#endings.unshift(() => hub.close());
    return hub;
  }

  /** An agent behind a connection of its own. */
  async agent(id: string, url?: string, log?: (event: AgentLogEvent) => void): Promise<Agent> {
    const hub = await this.connect(url);
    const agent = createAgent({ id, key: generateKey(), hub, log });
    this.#endings.unshift(() => agent.stop({ mode: "abandon" }));
    return agent;
  }

  /** The ledger's violations of what was promised, after everything has ended. */
  async violations(): Promise<unknown> {
    const entries: HistoryEntry[] = [];
    for await (const entry of ledgerHistory(this.store)) entries.push(entry);
    return checkHistory(entries, { isComplete: true, hub: this.hub.id }).violations;
  }

  async close(): Promise<void> {
    for (const end of this.#endings) await end();
    await this.down();
  }
}
