import type { ServerResponse } from "node:http";
import { errorBodyOf } from "./failure.ts";
import type { ApiFailure } from "./turn.ts";

/** The response to a request: one JSON body, or a stream of events. */
export class Exchange {
  readonly #response: ServerResponse;
  readonly #id: string;

  constructor(response: ServerResponse, id: string) {
    this.#response = response;
    this.#id = id;
  }

  json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): void {
    this.text(status, JSON.stringify(value), headers);
  }

  text(status: number, text: string, headers: Readonly<Record<string, string>> = {}): void {
    this.#response.writeHead(status, { ...this.#head("application/json"), ...headers });
    this.#response.end(text);
  }

  event(data: unknown, name?: string): void {
    if (!this.#response.headersSent)
      this.#response.writeHead(200, this.#head("text/event-stream; charset=utf-8"));
    const event = name === undefined ? "" : `event: ${name}\n`;
    this.#response.write(`${event}data: ${JSON.stringify(data)}\n\n`);
  }

  end(last = ""): void {
    this.#response.end(last);
  }

  /** Before the first event the error is the response; after it, the last event. */
  fail(failure: ApiFailure, api: "chat" | "responses"): void {
    const error = errorBodyOf(failure);
    if (!this.#response.headersSent) return this.json(failure.status, { error }, failure.headers);
    if (api === "chat") this.event({ error });
    else this.event({ ...error, type: "error" }, "error");
    this.end();
  }

  #head(type: string) {
    return { "content-type": type, "x-request-id": this.#id, "openai-version": "2020-10-01" };
  }
}
