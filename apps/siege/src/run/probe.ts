/// <reference types="node" />
import { request as plainRequest } from "node:http";
import { request as secureRequest } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";

/** Neither the address of the honest pair nor one of an attack. */
const ADDRESS = "127.0.0.2";
const EACH_MS = 250;
const ASK_WITHIN_MS = 5_000;

/** Observes a hub from outside: its event loop by its metrics, and whether it answers. */
export class Probe {
  readonly #url: string;
  readonly #ending = new AbortController();
  readonly #watching: Promise<void>;
  #loopMs = 0;

  constructor(url: string) {
    this.#url = url;
    this.#watching = this.#watch();
  }

  async #watch(): Promise<void> {
    const { signal } = this.#ending;
    // The first answer covers the time before the probe.
    await ask(this.#url, "/metrics").catch(() => undefined);
    while (!signal.aborted) {
      await sleep(EACH_MS, undefined, { signal }).catch(() => undefined);
      const since = performance.now();
      const delay = await ask(this.#url, "/metrics").then(
        ({ text }) =>
          Number(/^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(text)?.[1] ?? 0) * 1000,
        // The hub did not answer in time.
        () => performance.now() - since,
      );
      this.#loopMs = Math.max(this.#loopMs, delay);
    }
  }

  /** The longest event loop delay observed, in milliseconds. */
  async stop(): Promise<number> {
    this.#ending.abort();
    await this.#watching;
    return this.#loopMs;
  }
}

/** Requests a page of the hub. An answer that is late counts as none. */
export async function ask(url: string, path: string): Promise<{ status: number; text: string }> {
  const open = url.startsWith("https:") ? secureRequest : plainRequest;
  return new Promise((resolve, reject) => {
    const sent = open(url + path, {
      agent: false,
      localAddress: ADDRESS,
      rejectUnauthorized: false,
      signal: AbortSignal.timeout(ASK_WITHIN_MS),
    });
    sent.once("error", reject);
    sent.once("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.once("error", reject);
      response.once("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.end();
  });
}
