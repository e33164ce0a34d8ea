/// <reference types="node" />
import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { ConcurrencyLimit, ledgerLinePieces, LINE_PIECE_CHARACTERS } from "@waybill/hub/serving";
import type { FairScheduler } from "../access/fair-scheduler.ts";
import type { RateLimits } from "../access/rate-limits.ts";
import type { Budgets } from "../budgets.ts";
import { Bytes, NDJSON } from "../operations/operation.ts";
import type { Lines } from "../operations/operation.ts";
import type { Connections } from "./connections.ts";

const RETRY_AFTER_MS = 5_000;
/** A reader that is this late does not delay others. */
const LATE_MS = 1_000;
/** How many parts are read from the store at a time, for all streams together. */
const READS_AT_ONCE = 4;
const ALL_STREAMS = "all";

export interface StreamOptions {
  readonly budgets: Budgets;
  readonly connections: Connections;
  readonly turns: FairScheduler;
  readonly tolls: RateLimits;
}

interface Stream {
  readonly owner: string;
  readonly response: ServerResponse;
  /** Since when its next piece waits for the reader. */
  waitsSince: number;
}

/** What is read from the store at a time. */
interface Part {
  /** The bytes that the hub holds while it is sent: the part, and a piece made from it. */
  readonly held: number;
  readonly pieces: Iterable<Uint8Array | string> | AsyncIterable<string>;
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
  readonly #reads = new ConcurrencyLimit(READS_AT_ONCE);

  constructor({ budgets, connections, turns, tolls }: StreamOptions) {
    this.#budgets = budgets;
    this.#tolls = tolls;
    this.#connections = connections;
    this.#turns = turns;
  }

  send(request: FastifyRequest, reply: FastifyReply, given: Bytes | Lines): FastifyReply {
    const { caller, raw, method } = request;
    const owner = caller.type === "agent" ? caller.agent : undefined;
    if (owner !== undefined && method !== "HEAD") this.#makeRoom(owner);
    if (given instanceof Bytes) reply.code(given.status).headers(given.headers);
    else reply.type(NDJSON);
    if (method === "HEAD") return reply.send();
    const stream = { owner: owner ?? "", response: reply.raw, waitsSince: Infinity };
    if (owner !== undefined) this.#live.add(stream);
    reply.raw.once("close", () => this.#live.delete(stream));
    const parts = given instanceof Bytes ? ofBytes(given) : ofLines(given);
    const hold = (bytes: number) => this.#connections.holdForRequest(raw, bytes);
    const paced = this.#paced(stream, parts, hold);
    // Of one byte, so that one piece is enough.
    return reply.send(Readable.from(paced, { objectMode: false, highWaterMark: 1 }));
  }

  /** Returns each piece once the last one has left the hub. */
  async *#paced(
    stream: Stream,
    parts: AsyncIterable<Part>,
    hold: (bytes: number) => void,
  ): AsyncGenerator<Uint8Array | string> {
    const { owner, response } = stream;
    for await (const { pieces } of this.#charged(parts, hold)) {
      for await (const piece of pieces) {
        if (response.destroyed) return;
        yield piece;
        // The consumer hands this piece to the socket right after asking for the next one.
        await Promise.resolve();
        stream.waitsSince = performance.now();
        await drained(response);
        stream.waitsSince = Infinity;
        if (response.destroyed) return;
        // Operators have no budget.
        const wait = owner === "" ? 0 : this.#tolls.takeDownload(owner, piece.length);
        if (wait > 0) await sleep(wait);
        if (response.destroyed) return;
        await this.#turns.next(owner);
      }
    }
  }

  /**
   * Charges each part before another one is read: its size is not known earlier. The charge stays
   * until the next one is read in its place.
   */
  async *#charged(parts: AsyncIterable<Part>, hold: (bytes: number) => void): AsyncGenerator<Part> {
    const iterator = parts[Symbol.asyncIterator]();
    let held = 0;
    const read = async () => {
      const { value: part, done } = await iterator.next();
      hold(-held);
      if (done === true) return undefined;
      held = part.held;
      hold(held);
      return part;
    };
    try {
      for (;;) {
        const part = await this.#reads.run(ALL_STREAMS, read);
        if (part === undefined) return;
        yield part;
      }
    } finally {
      await iterator.return?.();
    }
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
    const [latest] = [...this.#live]
      .filter(({ waitsSince }) => waitsSince <= lateAt)
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

async function* ofBytes({ bytes }: Bytes): AsyncGenerator<Part> {
  for await (const piece of bytes) yield { held: piece.length, pieces: [piece] };
}

async function* ofLines({ entries }: Lines): AsyncGenerator<Part> {
  for await (const entry of entries) {
    // Nothing is read meanwhile.
    if (typeof entry === "function") yield { held: 0, pieces: entry() };
    else {
      const { length } = entry.content;
      const held = length + Math.min(length, LINE_PIECE_CHARACTERS);
      yield { held, pieces: ledgerLinePieces(entry) };
    }
  }
}

/** Settles once the socket takes more, or is gone. */
function drained(response: ServerResponse): Promise<void> {
  if (!response.writableNeedDrain || response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.once("drain", done);
    response.once("close", done);
  });
}
