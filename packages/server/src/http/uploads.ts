/// <reference types="node" />
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { WaybillError } from "@waybill/protocol";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { FairScheduler } from "../access/fair-scheduler.ts";
import type { Budgets, DoorName } from "../budgets.ts";
import type { RateLimits } from "../access/rate-limits.ts";
import type { Connections } from "./connections.ts";

const UPLOADS = /^\/v1\/blobs\/[^/?]*$/;

/** Whether the body of a request is a blob: streamed, and not buffered. */
export function isUpload({ method, url = "" }: IncomingMessage): boolean {
  return method === "PUT" && UPLOADS.test(url);
}

const RETRY_AFTER_MS = 5_000;
/** An upload younger than this has not shown its speed yet. */
const JUDGED_AFTER_MS = 1_000;

/** An upload that is being received. */
interface Receiving {
  readonly agent: string;
  readonly request: IncomingMessage;
  readonly since: number;
  bytes: number;
}

export interface UploadBodyOptions {
  readonly budgets: Budgets;
  readonly tolls: RateLimits;
  readonly connections: Connections;
  readonly turns: FairScheduler;
}

/** Receives the bodies of uploads: each agent within its rate, and none that hardly makes progress. */
export class UploadBodies {
  readonly #options: UploadBodyOptions;
  readonly #live = new Set<Receiving>();

  constructor(options: UploadBodyOptions) {
    this.#options = options;
  }

  /** The bytes of a body, limited by its agent's rate and by backpressure. */
  async *take({ raw, caller }: FastifyRequest, reply: FastifyReply): AsyncGenerator<Uint8Array> {
    const { budgets, tolls, connections, turns } = this.#options;
    const agent = caller.type === "agent" ? caller.agent : "";
    this.#makeRoom(agent);
    const receiving = { agent, request: raw, since: performance.now(), bytes: 0 };
    this.#live.add(receiving);
    // 100-continue is sent after all checks.
    if (raw.headers.expect !== undefined) reply.raw.writeContinue();
    const { address } = tolls.of(raw);
    const { uploadWindowMs, uploadWindowBytes, uploadBytesAtLeast } = budgets.limits;
    let sinceLook = 0;
    let isOurTurn = false;
    const watching = setInterval(() => {
      if (sinceLook < uploadWindowBytes && !isOurTurn) this.#cut(raw, "uploadWindowMs");
      sinceLook = 0;
    }, uploadWindowMs);
    let unpaid = uploadBytesAtLeast;
    try {
      // The connection stays open if this ends early, so that the sender reads why.
      for await (const piece of raw.iterator({ destroyOnReturn: false })) {
        const bytes = piece as Buffer;
        sinceLook += bytes.length;
        receiving.bytes += bytes.length;
        isOurTurn = true;
        connections.holdForRequest(raw, bytes.length);
        const wait = tolls.takeUpload(agent, address, Math.max(bytes.length, unpaid));
        unpaid = 0;
        if (wait > 0) await sleep(wait);
        await turns.nextPiece(agent);
        yield bytes;
        connections.holdForRequest(raw, -bytes.length);
        isOurTurn = false;
      }
    } catch (cause) {
      if (WaybillError.is(cause)) throw cause;
      throw new WaybillError(
        400,
        "The connection ended before the upload was complete. The received bytes are kept; ask how many there are, and resume from there.",
        { cause },
      );
    } finally {
      clearInterval(watching);
      this.#live.delete(receiving);
    }
  }

  /** Closes the slowest upload of the agent with the most under way; its bytes so far are kept. */
  #makeRoom(agent: string): void {
    const { budgets } = this.#options;
    const { uploadsPerHub } = budgets.limits;
    if (this.#live.size < uploadsPerHub) return;
    const now = performance.now();
    const counts = new Map<string, number>();
    for (const each of this.#live) counts.set(each.agent, (counts.get(each.agent) ?? 0) + 1);
    const rateOf = ({ bytes, since }: Receiving) => bytes / (now - since);
    const [slowest] = [...this.#live]
      .filter((each) => now - each.since >= JUDGED_AFTER_MS)
      .toSorted((a, b) => counts.get(b.agent)! - counts.get(a.agent)! || rateOf(a) - rateOf(b));
    if (slowest === undefined || (counts.get(agent) ?? 0) >= counts.get(slowest.agent)!) {
      throw budgets.refuse(
        "uploadsPerHub",
        `Agents are uploading ${uploadsPerHub} blobs at once, which is the limit. Resume a little later.`,
        { retryAfterMs: RETRY_AFTER_MS },
      );
    }
    this.#live.delete(slowest);
    this.#cut(slowest.request, "uploadsPerHub");
  }

  #cut({ socket }: IncomingMessage, budget: DoorName): void {
    const { budgets, connections } = this.#options;
    const connection = connections.of(socket);
    budgets.hit(budget);
    if (connection === undefined) socket.destroy();
    else connections.cut(connection);
  }
}
