import { delegatorAgent, openAutogenHost } from "@waybill/adapter-autogen";
import type { AutogenHost, RemoteAgent } from "@waybill/adapter-autogen";
import type { Json } from "@waybill/protocol";
import { WorkerProcess } from "./worker-process.ts";
import type { Play } from "./worker-process.ts";

let shared: WorkerProcess | undefined;

/** A host with its own worker, whose agents find their delegator there, and `anybody`. */
export class Staff {
  readonly host: AutogenHost;
  readonly #worker: WorkerProcess;
  #anybody: RemoteAgent | undefined;

  private constructor(worker: WorkerProcess, host: AutogenHost) {
    this.#worker = worker;
    this.host = host;
  }

  static async open(play: (staff: Staff) => Play): Promise<Staff> {
    const worker = (shared ??= new WorkerProcess());
    const anybody: RemoteAgent = (sent) => staff.#anybody!(sent);
    const delegator = delegatorAgent({
      question: "Question",
      progress: "Progress",
      reply: "Answer",
    });
    const host = await openAutogenHost({ port: 0, agents: { anybody, delegator } });
    const staff = new Staff(worker, host);
    await worker.open(host.address, play(staff));
    return staff;
  }

  /** From now on `anybody` is this agent. */
  hire(anybody: RemoteAgent): void {
    this.#anybody = anybody;
  }

  /** Makes the playing agent with this key do something during its run. */
  has(key: string, what: "show" | "ask" | "part", given: object): Promise<Json> {
    return this.#worker.do(what, this.host.address, { key, ...given });
  }

  async close(): Promise<void> {
    await this.#worker.do("close", this.host.address);
    await this.host.close();
  }
}
