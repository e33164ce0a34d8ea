/// <reference types="node" />
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import type { Json } from "@waybill/protocol";
import type { PeerFixture } from "../fixture.ts";
import { Line } from "./line.ts";
import type { Answering } from "./line.ts";

const COMPLAINT_LENGTH = 4_096;

/** A process of another language, which runs an adapter and its agents. */
export class Peer {
  readonly #child: ChildProcess;
  readonly #line: Line;
  readonly #ended: Promise<void>;
  /** Its requests about something that it was told to do, by the number of that. */
  readonly #about = new Map<number, Answering>();
  #count = 0;

  constructor({ command, cwd, env }: PeerFixture) {
    const [program = "", ...args] = command;
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#child = child;
    this.#line = new Line(
      // A process that is killed meanwhile is sent nothing more.
      (text) => void (child.stdin.writable && child.stdin.write(text)),
      (ask, given, signal) => {
        const { about } = given as { about: number };
        const answering = this.#about.get(about);
        if (answering === undefined) throw new Error(`It asks ${ask} about what is over.`);
        return answering(ask, given, signal);
      },
    );
    let complaint = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      complaint = (complaint + text).slice(-COMPLAINT_LENGTH);
    });
    child.stdin.on("error", () => undefined);
    createInterface({ input: child.stdout }).on("line", (line) => this.#line.take(line));
    this.#ended = new Promise((resolve) => {
      const end = (reason: string) => {
        this.#line.end(new Error(reason));
        resolve();
      };
      child.once("error", (error) => end(`${program} could not be started: ${error.message}`));
      child.once("close", (code) => end(`${command.join(" ")} ended with ${code}. ${complaint}`));
    });
  }

  /** Makes it do something; its requests, then and later, are answered. */
  do(what: string, given: object, answering: Answering, signal?: AbortSignal): Promise<Json> {
    const about = ++this.#count;
    this.#about.set(about, answering);
    return this.#line.ask(what, { ...given, about }, signal);
  }

  /** Sends a message into one of its runs. */
  ask(what: string, given: object): Promise<Json> {
    return this.#line.ask(what, given);
  }

  /** It does not keep this process alive. */
  unref(): this {
    this.#child.unref();
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) {
      (stream as unknown as { unref(): void } | null)?.unref();
    }
    return this;
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }
}

const shared = new Map<PeerFixture, Peer>();

/** One process for all cases that need none of their own: a framework takes seconds to load. */
export function sharedPeer(fixture: PeerFixture): Peer {
  const peer = shared.get(fixture) ?? new Peer(fixture).unref();
  shared.set(fixture, peer);
  return peer;
}
