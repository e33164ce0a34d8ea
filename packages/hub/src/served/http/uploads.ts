/// <reference types="node" />
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { WaybillError } from "@waybill/protocol";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Budgets } from "../budgets.ts";
import type { RateLimits } from "../access/rate-limits.ts";
import type { Connections } from "./connections.ts";

const UPLOADS = /^\/v1\/blobs\/[^/?]*$/;

/** Whether the body of a request is a blob: taken as it comes, and not held. */
export function isUpload({ method, url = "" }: IncomingMessage): boolean {
  return method === "PUT" && UPLOADS.test(url);
}

/** Takes the bodies of uploads as they come: each agent within its rate, and none that hardly comes at all. */
export class UploadBodies {
  readonly #budgets: Budgets;
  readonly #tolls: RateLimits;
  readonly #connections: Connections;

  constructor(budgets: Budgets, tolls: RateLimits, connections: Connections) {
    this.#budgets = budgets;
    this.#tolls = tolls;
    this.#connections = connections;
  }

  /** The bytes of a body, as fast as its agent may send them and they are taken. */
  async *take({ raw, caller }: FastifyRequest, reply: FastifyReply): AsyncGenerator<Uint8Array> {
    // Who waits to be asked for the body is asked once nothing speaks against it.
    if (raw.headers.expect !== undefined) reply.raw.writeContinue();
    const agent = caller.type === "agent" ? caller.agent : "";
    const { uploadWindowMs, uploadWindowBytes } = this.#budgets.limits;
    let sinceLook = 0;
    let isOurTurn = false;
    const watching = setInterval(() => {
      if (sinceLook < uploadWindowBytes && !isOurTurn) this.#cut(raw);
      sinceLook = 0;
    }, uploadWindowMs);
    try {
      // The connection stays open where this ends early, so that the sender reads why.
      for await (const piece of raw.iterator({ destroyOnReturn: false })) {
        const bytes = piece as Buffer;
        sinceLook += bytes.length;
        isOurTurn = true;
        const wait = this.#tolls.takeUpload(agent, bytes.length);
        if (wait > 0) await sleep(wait);
        yield bytes;
        isOurTurn = false;
      }
    } catch (cause) {
      if (WaybillError.is(cause)) throw cause;
      throw new WaybillError(
        400,
        "The connection has ended before the upload was complete. What has arrived is kept; ask how much that is, and go on from there.",
        { cause },
      );
    } finally {
      clearInterval(watching);
    }
  }

  #cut({ socket }: IncomingMessage): void {
    const connection = this.#connections.of(socket);
    this.#budgets.hit("uploadWindowMs");
    if (connection === undefined) socket.destroy();
    else this.#connections.cut(connection);
  }
}
