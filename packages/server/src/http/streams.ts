import type { FastifyReply, FastifyRequest } from "fastify";
import type { FairScheduler } from "../access/fair-scheduler.ts";
import { FairSlots } from "../access/fair-slots.ts";
import type { RateLimits } from "../access/rate-limits.ts";
import type { Budgets } from "../budgets.ts";
import { Bytes, EntryPage, NDJSON } from "../operations/operation.ts";
import type { Lines } from "../operations/operation.ts";
import type { Connections } from "./connections.ts";
import { PacedStream } from "./paced-stream.ts";
import type { Stream } from "./paced-stream.ts";
import { partsOf } from "./parts.ts";

const RETRY_AFTER_MS = 5_000;
/** A reader that is this late does not delay others. */
const LATE_MS = 1_000;
/** How many parts are read from the store at a time, for all streams together. */
const READS_AT_ONCE = 4;

export interface StreamOptions {
  readonly budgets: Budgets;
  readonly connections: Connections;
  readonly turns: FairScheduler;
  readonly tolls: RateLimits;
}

/**
 * Answers that are sent piece by piece. The next piece is made once the socket has room for it, and
 * the next part is read once the last one was sent, so one of each is in memory, and is charged to the
 * client.
 */
export class Streams {
  readonly #budgets: Budgets;
  readonly #connections: Connections;
  readonly #turns: FairScheduler;
  readonly #tolls: RateLimits;
  readonly #live = new Set<Stream>();
  readonly #reads: FairSlots;

  constructor({ budgets, connections, turns, tolls }: StreamOptions) {
    this.#budgets = budgets;
    this.#tolls = tolls;
    this.#connections = connections;
    this.#turns = turns;
    this.#reads = new FairSlots(READS_AT_ONCE, {
      waited: () => undefined,
      begin: (who, read) => void turns.nextPiece(who).then(read),
    });
  }

  send(
    request: FastifyRequest,
    reply: FastifyReply,
    given: Bytes | Lines | EntryPage,
  ): FastifyReply {
    const { caller, raw, method } = request;
    const owner = caller.type === "agent" ? caller.agent : undefined;
    if (owner !== undefined && method !== "HEAD") this.#makeRoom(owner);
    if (given instanceof Bytes) reply.code(given.status).headers(given.headers);
    else
      reply.header("vary", "accept").type(given instanceof EntryPage ? "application/json" : NDJSON);
    if (method === "HEAD") return reply.send();
    const stream = { owner: owner ?? "", response: reply.raw, waitsSince: Infinity };
    if (owner !== undefined) this.#live.add(stream);
    reply.raw.once("close", () => this.#live.delete(stream));
    return reply.send(
      new PacedStream(stream, partsOf(given), {
        hold: (bytes) => this.#connections.holdForRequest(raw, bytes),
        tolls: this.#tolls,
        turns: this.#turns,
        reads: this.#reads,
      }),
    );
  }

  #makeRoom(owner: string): void {
    const { streamsPerAgent, streamsPerHub } = this.#budgets.limits;
    const counts = new Map<string, number>();
    for (const each of this.#live) counts.set(each.owner, (counts.get(each.owner) ?? 0) + 1);
    if ((counts.get(owner) ?? 0) >= streamsPerAgent) {
      throw this.#budgets.refuse(
        "streamsPerAgent",
        `${owner} is reading ${streamsPerAgent} blobs and histories at once, which is the limit. Retry once one of them has ended.`,
        { retryAfterMs: RETRY_AFTER_MS },
      );
    }
    if (this.#live.size < streamsPerHub) return;
    const lateAt = performance.now() - LATE_MS;
    const fair = (counts.get(owner) ?? 0) + 1;
    const [latest] = [...this.#live]
      .filter((each) => each.waitsSince <= lateAt || counts.get(each.owner)! > fair)
      .toSorted(
        (a, b) => counts.get(b.owner)! - counts.get(a.owner)! || a.waitsSince - b.waitsSince,
      );
    const error = this.#budgets.refuse(
      "streamsPerHub",
      `Agents are reading ${streamsPerHub} blobs and histories at once, which is the limit. Retry a little later.`,
      { retryAfterMs: RETRY_AFTER_MS },
    );
    if (latest === undefined) throw error;
    this.#live.delete(latest);
    latest.response.destroy();
  }
}
