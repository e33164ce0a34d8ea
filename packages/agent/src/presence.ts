import { WaybillError } from "@waybill/protocol";
import type { CapabilityInput, ManifestInput, ProvenKey } from "@waybill/protocol";
import type { AgentContext } from "./context.ts";
import { deferred } from "./delegating/deferred.ts";
import type { OwnKey } from "./identity/own-key.ts";
import { publishManifest } from "./link/manifest.ts";

/** What an agent publishes and asks for when it attaches. */
export interface PresenceOptions {
  readonly context: AgentContext;
  readonly key: OwnKey;
  /** Its capabilities; more may be added until it has started. */
  readonly offered: readonly CapabilityInput[];
  readonly manifest: Omit<ManifestInput, "agent_id" | "capabilities"> | undefined;
  readonly invitation: string | undefined;
  readonly recoveryKey: ProvenKey | undefined;
  readonly credit: number;
}

/** Whether an agent is at its hub: from its start, also by its first handoff, until it stops. */
export class Presence {
  /** Settles when the agent receives no deliveries any more: with the reason if its hub refuses it. */
  readonly closed: Promise<WaybillError | undefined>;
  readonly #closed = deferred<WaybillError | undefined>();
  readonly #options: PresenceOptions;
  #started: Promise<void> | undefined;
  /** It was admitted once; from then on its connection is reopened whenever it is lost. */
  #isAttached = false;
  #isEnding = false;
  #lost: WaybillError | undefined;

  constructor(options: PresenceOptions) {
    this.#options = options;
    this.closed = this.#closed.promise;
  }

  /** Whether its manifest was published, or is being published. */
  get hasStarted(): boolean {
    return this.#started !== undefined;
  }

  /** Publishes the manifest and attaches to the hub, once. */
  start(): Promise<void> {
    this.#started ??= this.#start().catch((error: unknown) => {
      // The hub may be reachable the next time.
      this.#started = undefined;
      throw error;
    });
    return this.#started;
  }

  async #start(): Promise<void> {
    const { context, key, offered, manifest, invitation, recoveryKey, credit } = this.#options;
    const { id, hub, link } = context;
    const loaded = await key.load();
    const said = { ...manifest, agent_id: id, capabilities: [...offered] };
    const published = publishManifest(hub, said, loaded, { invitation, recoveryKey });
    await link.within(published).catch((error: unknown) => {
      throw key.explain(error);
    });
    await link.open(offered.length === 0 ? 0 : credit);
    this.#isAttached = true;
  }

  /** Starts the agent for a handoff if that was not done; throws once it has stopped or was refused. */
  async startForHandoff(): Promise<void> {
    const { id } = this.#options.context;
    if (this.#isEnding) throw stopped(id);
    await this.start();
    // Work that finishes while the agent stops may still hand off children.
    if (this.#isEnding) throw stopped(id);
    if (this.#lost !== undefined) throw this.#lost;
  }

  /** Waits for a start under way. One that the hub does not answer is given up. */
  async settled(): Promise<void> {
    if (!this.#isAttached) await this.#options.context.link.close("closed");
    await this.#started?.catch(() => undefined);
  }

  /** The hub refuses the agent. */
  lose(reason: WaybillError): void {
    this.#lost = reason;
    this.#closed.resolve(reason);
  }

  /** From now on nothing is handed off: the agent is disconnecting. */
  refuseHandoffs(): void {
    this.#isEnding = true;
  }

  /** The agent is disconnected. */
  end(): void {
    this.#closed.resolve(undefined);
  }
}

export function stopped(id: string): WaybillError {
  return new WaybillError(
    503,
    `${id} has stopped here; its handoffs continue. Attach to them by their ids once it runs again.`,
  );
}
