import { readDelivery, writeDelta } from "@waybill/protocol/wire";
import type { Attachment, Delivery, Delta, ShownDelta } from "@waybill/protocol/wire";
import type { WaybillError } from "@waybill/protocol";
import type { HubSocket } from "./socket.ts";

/** An agent's side of one connection to a hub. */
export class RemoteAttachment implements Attachment {
  readonly closed: Promise<WaybillError | undefined>;
  readonly #socket: HubSocket;
  readonly #handler: (delivery: Delivery) => void;
  readonly #show: ((delta: ShownDelta) => void) | undefined;
  readonly #failed: (error: unknown) => void;

  constructor(
    socket: HubSocket,
    handler: (delivery: Delivery) => void,
    show: ((delta: ShownDelta) => void) | undefined,
    failed: (error: unknown) => void,
  ) {
    this.#socket = socket;
    this.#handler = handler;
    this.#show = show;
    this.#failed = failed;
    this.closed = socket.closed;
  }

  open(proof: string, credit: number): Promise<void> {
    return this.#socket.attach(proof, credit, (delivery) => this.#deliver(delivery), this.#show);
  }

  /** A delivery that can't be read or handled is not acknowledged: it comes again, and blocks no other. */
  #deliver(delivery: Delivery): void {
    try {
      this.#handler(readDelivery(delivery));
    } catch (error) {
      this.#failed(error);
    }
  }

  taken(handoffId: string, attempt: number): void {
    this.#socket.send({ type: "taken", handoff_id: handoffId, attempt });
  }

  heartbeat(handoffId: string, attempt: number): void {
    this.#socket.send({ type: "heartbeat", handoff_id: handoffId, attempt });
  }

  delta(delta: Delta): void {
    this.#socket.send({ type: "delta", ...writeDelta(delta) });
  }

  seen(deliveryId: string): void {
    this.#socket.send({ type: "seen", id: deliveryId });
  }

  setCredit(credit: number): void {
    this.#socket.send({ type: "credit", credit });
  }

  close(): Promise<void> {
    return this.#socket.close();
  }
}
