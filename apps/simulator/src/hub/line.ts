import type { Attachment, AttachRequest, Delivery, Hub, HubServer } from "@waybill/hub";
import { WaybillError } from "@waybill/protocol";
import type { Process } from "../world/process.ts";
import type { Random } from "../world/random.ts";
import type { World } from "../world/world.ts";
import type { Cluster } from "./cluster.ts";
import type { HubSite } from "./hub-site.ts";
import { DOMAIN, HUB_ID } from "./hub-site.ts";

const ANSWER_WITHIN_MS = 4_000;
/** How long until the other side notices that a line is dead. */
const NOTICED_WITHIN_MS = 12_000;

interface Connection {
  readonly site: HubSite;
  process: Process;
  isOpen: boolean;
  hubSide: Attachment | undefined;
  unwatch: () => void;
  end: (reason: WaybillError | undefined) => void;
}

/**
 * A hub as one agent process reaches it: over a network that loses, repeats, delays and reorders
 * messages in both directions, and whose connections break.
 */
export class Line implements Hub {
  readonly id: string = HUB_ID;
  readonly domain: string = DOMAIN;
  readonly #world: World;
  readonly #random: Random;
  readonly #cluster: Cluster;
  readonly #process: Process;
  readonly #connections = new Set<Connection>();
  #preferred: HubSite;

  constructor(world: World, cluster: Cluster, process: Process, random: Random) {
    this.#world = world;
    this.#random = random;
    this.#cluster = cluster;
    this.#process = process;
    this.#preferred = random.pick(cluster.sites);
    this.#breakNow();
  }

  submit(envelope: string, as?: string): Promise<string> {
    return this.#call((hub) => hub.submit(envelope, as), { mayRepeat: true });
  }

  publish(manifest: string): Promise<void> {
    return this.#call((hub) => hub.publish(manifest), { mayRepeat: true });
  }

  manifests(query: Parameters<Hub["manifests"]>[0]): ReturnType<Hub["manifests"]> {
    return this.#call((hub) => hub.manifests(query), { mayRepeat: true });
  }

  find(query: Parameters<Hub["find"]>[0]): ReturnType<Hub["find"]> {
    return this.#call((hub) => hub.find(query), { mayRepeat: true });
  }

  handoff(id: string, as: string): ReturnType<Hub["handoff"]> {
    return this.#call((hub) => hub.handoff(id, as), { mayRepeat: true });
  }

  async attach(request: AttachRequest, handler: (delivery: Delivery) => void): Promise<Attachment> {
    const site = this.#preferred;
    let end: Connection["end"];
    const closed = new Promise<WaybillError | undefined>((resolve) => (end = resolve));
    const opened = site.process!;
    const connection: Connection = {
      site,
      process: opened,
      isOpen: true,
      hubSide: undefined,
      unwatch: () => undefined,
      end: end!,
    };
    this.#connections.add(connection);
    const receive = (delivery: Delivery) => {
      if (!connection.process.isAlive) return;
      this.#send(() => {
        if (!connection.isOpen || !this.#process.isAlive) return;
        this.#world.trace.note(`${request.agent} gets ${delivery.type} of ${delivery.handoff_id}`);
        handler(delivery);
      });
    };
    try {
      await this.#call(
        async (hub) => {
          const attachment = await hub.attach(request, receive);
          connection.process = site.process!;
          connection.hubSide = attachment;
          // Too late: the agent's side is closed, and the hub's side will notice.
          if (!connection.isOpen) this.#closeLater(connection);
          connection.unwatch = site.watch(() => this.#cut(connection));
          void attachment.closed.then((reason) => this.#hungUp(connection, reason));
        },
        { mayRepeat: false, site },
      );
    } catch (error) {
      this.#cut(connection);
      throw error;
    }
    return this.#agentSide(connection, closed);
  }

  #agentSide(connection: Connection, closed: Attachment["closed"]): Attachment {
    const frame = (name: string, pass: (attachment: Attachment) => void) => {
      this.#send(() => {
        const { isOpen, hubSide, process } = connection;
        if (isOpen && hubSide !== undefined && process.isAlive) pass(hubSide);
        else this.#world.trace.note(`${name} gets nowhere`);
      });
    };
    return {
      taken: (id, attempt) => frame("taken", (hub) => hub.taken(id, attempt)),
      heartbeat: (id, attempt) => frame("heartbeat", (hub) => hub.heartbeat(id, attempt)),
      delta: (delta) => frame("delta", (hub) => hub.delta(delta)),
      seen: (id) => frame("seen", (hub) => hub.seen(id)),
      setCredit: (credit) => frame("credit", (hub) => hub.setCredit(credit)),
      close: async () => this.#cut(connection),
      closed,
    };
  }

  /** The hub has ended the connection, and tells the agent if it still can. */
  #hungUp(connection: Connection, reason: WaybillError | undefined): void {
    if (!connection.process.isAlive || !connection.isOpen) return;
    this.#process.after(this.#latencyMs(), () => this.#end(connection, reason));
  }

  #end(connection: Connection, reason: WaybillError | undefined): void {
    connection.isOpen = false;
    connection.unwatch();
    if (this.#connections.delete(connection)) connection.end(reason);
  }

  /** Neither side hears from the other any more; each notices at its own time. */
  #cut(connection: Connection): void {
    if (!connection.isOpen) return;
    connection.isOpen = false;
    connection.unwatch();
    this.#closeLater(connection);
    const lost = new WaybillError(503, "The line to the hub is broken.");
    this.#process.after(this.#random.spread(1, 1_000), () => this.#end(connection, lost));
  }

  #closeLater({ process, hubSide }: Connection): void {
    const ms = this.#world.isFaulty ? this.#random.spread(1, NOTICED_WITHIN_MS) : 10;
    process.after(ms, () => void hubSide?.close());
  }

  /** The agent's process is gone, and the network tells the hub sooner or later. */
  abandon(): void {
    for (const connection of this.#connections) this.#cut(connection);
  }

  #breakNow(): void {
    const { breaksEveryMs } = this.#world.scenario.network;
    if (breaksEveryMs === Infinity) return;
    this.#process.after(this.#random.between(0, 2 * breaksEveryMs), () => {
      if (!this.#world.isFaulty) return;
      for (const connection of this.#connections) this.#cut(connection);
      this.#preferred = this.#random.pick(this.#cluster.sites);
      this.#breakNow();
    });
  }

  #call<Value>(
    run: (hub: HubServer) => Promise<Value>,
    { mayRepeat, site: fixed }: { readonly mayRepeat: boolean; readonly site?: HubSite },
  ): Promise<Value> {
    const site =
      fixed ??
      (this.#random.chance(0.5) ? this.#preferred : this.#random.pick(this.#cluster.sites));
    return new Promise((resolve, reject) => {
      const fail = (why: string) => {
        this.#preferred = this.#random.pick(this.#cluster.sites);
        reject(new WaybillError(503, why));
      };
      const disarm = this.#process.after(ANSWER_WITHIN_MS, () => fail("The hub does not answer."));
      const answer = (give: () => void) =>
        this.#send(() => {
          if (!this.#process.isAlive) return;
          disarm();
          give();
        });
      const arrive = () => {
        const { hub, process } = site;
        if (hub === undefined) return answer(() => fail("There is no hub at this address now."));
        run(hub).then(
          (value) => process!.isAlive && answer(() => resolve(value)),
          (error: unknown) => process!.isAlive && answer(() => reject(WaybillError.from(error))),
        );
      };
      this.#send(arrive, mayRepeat);
    });
  }

  /** Delivers a message: once, twice, late or never. */
  #send(arrive: () => void, mayRepeat = true): void {
    if (!this.#process.isAlive) return;
    const { dropped, repeated } = this.#world.scenario.network;
    if (this.#world.fails(this.#random, dropped))
      return this.#world.trace.note("a message is lost");
    const carry = () => this.#world.scheduler.after(this.#latencyMs(), () => arrive());
    carry();
    if (mayRepeat && this.#world.fails(this.#random, repeated)) carry();
  }

  #latencyMs(): number {
    const { latencyMs, held } = this.#world.scenario.network;
    if (this.#world.fails(this.#random, held)) return this.#random.spread(latencyMs, 6_000);
    return this.#random.between(0, latencyMs);
  }
}
