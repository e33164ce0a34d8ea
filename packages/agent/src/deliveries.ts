import { WaybillError } from "@waybill/protocol";
import type { Delivery, ShownDelta } from "@waybill/protocol/wire";
import type { AgentContext } from "./context.ts";
import type { Delegating } from "./delegating/delegating.ts";
import type { Arrivals, Link, Receiver } from "./link/link.ts";
import type { Presence } from "./presence.ts";
import type { Serving } from "./serving/serving.ts";

export interface DeliveriesOptions {
  readonly context: AgentContext;
  readonly presence: Presence;
  readonly delegating: Delegating;
  readonly serving: Serving;
}

/** What comes over one connection. Deliveries that precede its attachment wait for it. */
class ConnectionArrivals implements Arrivals {
  readonly #link: Pick<Link, "state">;
  readonly #deliveries: Deliveries;
  #early: Delivery[] | undefined = [];

  constructor(link: Pick<Link, "state">, deliveries: Deliveries) {
    this.#link = link;
    this.#deliveries = deliveries;
  }

  readonly receive = (delivery: Delivery): void => {
    if (this.#early !== undefined) this.#early.push(delivery);
    else if (this.#link.state !== "abandoned") this.#deliveries.receive(delivery);
  };

  readonly show = (delta: ShownDelta): void => {
    if (this.#link.state === "open") this.#deliveries.show(delta);
  };

  attached(): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const delivery of early) this.#deliveries.receive(delivery);
  }
}

/** Passes what the hub delivers to the attempt or the handoff that it is about. */
export class Deliveries implements Receiver {
  readonly #options: DeliveriesOptions;

  constructor(options: DeliveriesOptions) {
    this.#options = options;
  }

  arrivals(): Arrivals {
    return new ConnectionArrivals(this.#options.context.link, this);
  }

  receive(delivery: Delivery): void {
    const { context, serving } = this.#options;
    if (delivery.type === "offer") serving.offered(delivery);
    else if (delivery.type === "stop") serving.stopped(delivery);
    else {
      this.#pass(delivery).catch((error: unknown) => {
        const { handoff_id: handoffId } = delivery;
        context.log({ event: "failure", agent: context.id, handoffId, error });
      });
    }
  }

  async #pass(delivery: Extract<Delivery, { type: "envelope" }>): Promise<void> {
    const { id, handoff_id: handoffId } = delivery;
    const { context, serving, delegating } = this.#options;
    const { link, log, id: agent } = context;
    const isAnswer = await serving.answered(delivery);
    const isClaimed = await delegating.receive(delivery);
    if (!isClaimed && !isAnswer) log({ event: "unclaimed", agent, handoffId });
    link.seen(id);
  }

  show(delta: ShownDelta): void {
    this.#options.delegating.show(delta);
  }

  /** Deliveries about its handoffs go to another process now, or nowhere: ends the waits in this one. */
  lose(reason: WaybillError): void {
    const { context, presence, delegating } = this.#options;
    presence.lose(reason);
    delegating.lose(
      new WaybillError(
        503,
        `${context.id} is no longer attached to its hub: ${reason.message} Its handoffs continue; attach to them by their ids once this is fixed.`,
        { cause: reason },
      ),
    );
  }
}
