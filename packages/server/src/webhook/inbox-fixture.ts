/// <reference types="node" />
import { createServer } from "node:http";
import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { digestOf, publicKeyFrom, verifyCompact } from "@waybill/protocol";
import type { PrivateKey } from "@waybill/protocol";
import { checkRequest, checkRequestBody, readPush, readRequest } from "@waybill/protocol/wire";
import type { Delivery, PushAnswer } from "@waybill/protocol/wire";

interface Answered {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** An agent that only listens: it verifies each push, and answers. */
export class Inbox {
  readonly url: string;
  readonly deliveries: Delivery[] = [];
  /** Everything that has arrived, including an empty list that only challenges. */
  posts = 0;
  /** Whether it accepts deliveries here. */
  echoes = true;
  answer: (deliveries: readonly Delivery[]) => Answered | PushAnswer = () => ({});
  readonly #server: Server;
  readonly #agent: string;
  readonly #key: PrivateKey;
  #wake: (() => void)[] = [];

  constructor(server: Server, agent: string, key: PrivateKey) {
    this.#server = server;
    this.#agent = agent;
    this.#key = key;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/inbox?of=${agent}`;
    server.on("request", (request: IncomingMessage, response) => {
      void this.#take(request).then(({ status = 200, headers = {}, body = "" }) => {
        response.writeHead(status, headers).end(body);
      });
    });
  }

  static async open(agent: string, hubKey: PrivateKey, port = 0): Promise<Inbox> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    return new Inbox(server, agent, hubKey);
  }

  get place(): string {
    return new URL(this.url).host;
  }

  async #take(request: IncomingMessage): Promise<Answered> {
    const parts: Buffer[] = [];
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
    const text = Buffer.concat(parts).toString();
    const { claim, proof } = readRequest(request.headers.authorization ?? "");
    checkRequest(claim, {
      to: this.#agent,
      // The hub has not changed its key since its first manifest.
      domain: this.#key.kid,
      method: request.method!,
      path: request.url!,
      now: Date.now(),
      clockSkewMs: 60_000,
    });
    checkRequestBody(claim, digestOf(text));
    verifyCompact(proof, () => publicKeyFrom(this.#key.jwk));
    const { deliveries, agent, challenge } = readPush(text);
    const answer = agent === this.#agent ? this.answer(deliveries) : { status: 400 };
    const isPlain = !("envelopes" in answer) && !("taken" in answer);
    this.posts++;
    this.deliveries.push(...deliveries);
    for (const wake of this.#wake.splice(0)) wake();
    if (challenge !== undefined && this.echoes && (isPlain ? isOk(answer as Answered) : true)) {
      return { body: JSON.stringify({ echo: challenge }) };
    }
    return isPlain ? (answer as Answered) : { body: JSON.stringify(answer) };
  }

  /** Waits until what has come is enough. */
  async until(isEnough: (inbox: this) => boolean): Promise<void> {
    while (!isEnough(this)) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function isOk({ status = 200 }: Answered): boolean {
  return status >= 200 && status <= 299;
}
