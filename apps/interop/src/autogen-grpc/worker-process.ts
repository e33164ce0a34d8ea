/// <reference types="node" />
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { WaybillError } from "@waybill/protocol";
import type { Json, Message } from "@waybill/protocol";
import type { File } from "./files.ts";
import { pythonOf } from "../python-peer.ts";

/** A request to a model, with the data that code sees beside it. */
export interface Asked {
  readonly messages: readonly Message[];
  /** Of a served agent. */
  readonly history?: readonly Message[];
  readonly files: readonly File[];
  readonly message: string;
  readonly key: string;
  readonly traceparent: string | null;
}

/** Plays the models of one host's agents. */
export type Play = (asked: Asked, signal: AbortSignal) => Promise<object>;

type Said =
  | { readonly ask: number; readonly host: string; readonly what: Asked }
  | { readonly drop: number }
  | { readonly re: number; readonly value?: Json; readonly error?: string };

/** One Python process with a worker for each host, because AutoGen takes a second to load. */
export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #plays = new Map<string, Play>();
  readonly #waiting = new Map<number, PromiseWithResolvers<Json>>();
  readonly #answers = new Map<number, AbortController>();
  #count = 0;
  #complaint = "";
  #ended: Error | undefined;

  constructor() {
    const program = fileURLToPath(new URL("worker.py", import.meta.url));
    const child = spawn(pythonOf("autogen-grpc"), [program], {
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, GRPC_VERBOSITY: "NONE", PYTHONDONTWRITEBYTECODE: "1" },
    });
    this.#child = child;
    child.stderr.setEncoding("utf8").on("data", (text: string) => (this.#complaint += text));
    child.stdin.on("error", () => undefined);
    createInterface({ input: child.stdout }).on("line", (line) => {
      this.#hear(JSON.parse(line) as Said);
    });
    child.once("close", () => {
      this.#ended = new Error(`The process of AutoGen's workers has ended. ${this.#complaint}`);
      for (const { reject } of this.#waiting.values()) reject(this.#ended);
    });
  }

  /** Makes a worker connect to a host. */
  async open(host: string, play: Play): Promise<void> {
    this.#plays.set(host, play);
    await this.do("open", host);
  }

  do(what: string, host: string, given: object = {}): Promise<Json> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    const id = ++this.#count;
    const answer = Promise.withResolvers<Json>();
    this.#waiting.set(id, answer);
    this.#say({ re: id, do: what, host, given });
    return answer.promise;
  }

  #hear(said: Said): void {
    if ("drop" in said) return this.#answers.get(said.drop)?.abort();
    if ("ask" in said) return void this.#answer(said);
    const { re, value = null, error } = said;
    const waiting = this.#waiting.get(re);
    this.#waiting.delete(re);
    if (error === undefined) waiting?.resolve(value);
    else waiting?.reject(new Error(error));
  }

  async #answer({ ask, host, what }: Extract<Said, { ask: number }>): Promise<void> {
    const dropped = new AbortController();
    this.#answers.set(ask, dropped);
    try {
      this.#say({ re: ask, value: await this.#plays.get(host)!(what, dropped.signal) });
    } catch (error) {
      this.#say({ re: ask, error: raisedFor(error as Error) });
    } finally {
      this.#answers.delete(ask);
    }
  }

  #say(what: object): void {
    this.#child.stdin!.write(`${JSON.stringify(what)}\n`);
  }
}

/**
 * The exception that an agent raises for an act's error. An agent requests another attempt with its
 * status.
 */
function raisedFor(error: Error): string {
  if (error.name === "AbortError") return `499 CANCELLED: ${error.message}`;
  const isToBeTriedAgain = WaybillError.is(error) && error.retryable;
  return isToBeTriedAgain ? `503 UNREACHABLE: ${error.message}` : error.message;
}
