/// <reference types="node" />
import { spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createAgent } from "@waybill/agent";
import type { Agent } from "@waybill/agent";
import { memoryStore, openHub } from "@waybill/hub";
import type { HubServer } from "@waybill/hub";
import { generateKey } from "@waybill/protocol";
import { onTestFinished } from "vitest";
import { openAutogenHost } from "./host.ts";
import type { AutogenHost, AutogenHostOptions } from "./host.ts";
import type { HostEvent } from "./host-event.ts";
import { PYTHON } from "./python-fixture.ts";

const PROGRAM = fileURLToPath(new URL("worker-fixture.py", import.meta.url));

/** What a worker has told. */
export interface WorkerReport {
  readonly ready?: string;
  readonly refused?: string;
  readonly hanging?: string;
  readonly heard?: string;
  readonly number?: number;
  readonly answer?: string;
  readonly error?: string;
}

export interface PythonWorker {
  /** The first that was told, or will be, that has this member. */
  told(member: keyof WorkerReport): Promise<WorkerReport>;
  /** Has its runtime send a message, and gives the answer or the error. */
  send(target: string, text: string): Promise<WorkerReport>;
  release(): void;
  /** As a machine that is gone without a word: its connections stay, and say nothing. */
  freeze(): void;
  kill(): Promise<void>;
}

export interface World {
  readonly hub: HubServer;
  agent(id: string): Agent;
  host(options?: AutogenHostOptions): Promise<AutogenHost>;
  /** Settles once the worker is ready, or was refused. */
  worker(host: AutogenHost, agentType?: string): Promise<PythonWorker>;
  /** Settles once the host has told it, about this topic where one is named. */
  event(name: HostEvent["event"], topicType?: string): Promise<HostEvent>;
}

/** A hub, agents, hosts and workers for one test, all gone after it. */
export async function world(): Promise<World> {
  const hub = await openHub({ store: memoryStore(), key: generateKey(), terms: { backoffMs: 0 } });
  const events: HostEvent[] = [];
  const listeners = new Set<() => void>();
  const endings: (() => Promise<unknown>)[] = [];
  onTestFinished(async () => {
    for (const end of endings.toReversed()) await end();
    await hub.close();
  });
  return {
    hub,
    agent(id) {
      const agent = createAgent({ id, key: generateKey(), hub });
      endings.push(() => agent.stop({ mode: "abandon" }));
      return agent;
    },
    async host(options) {
      const log = (event: HostEvent) => {
        events.push(event);
        for (const listener of listeners) listener();
      };
      const host = await openAutogenHost({ port: 0, log, ...options });
      endings.push(() => host.close());
      return host;
    },
    async worker(host, agentType = "clerk") {
      const worker = startWorker(host.address, agentType);
      endings.push(() => worker.kill());
      await Promise.race([worker.told("ready"), worker.told("refused")]);
      return worker;
    },
    event: (name, topicType) =>
      new Promise((resolve) => {
        const isIt = (told: HostEvent) =>
          told.event === name &&
          (topicType === undefined || ("topicType" in told && told.topicType === topicType));
        const look = () => {
          const found = events.find(isIt);
          if (found === undefined) return;
          listeners.delete(look);
          resolve(found);
        };
        listeners.add(look);
        look();
      }),
  };
}

function startWorker(address: string, agentType: string): PythonWorker {
  const child = spawn(PYTHON!, [PROGRAM, address, agentType], {
    stdio: "pipe",
    env: { ...process.env, GRPC_VERBOSITY: "NONE" },
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  // AutoGen complains at length of what these tests are about.
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaint += text));
  const all: WorkerReport[] = [];
  const listeners = new Set<() => void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    all.push(JSON.parse(line) as WorkerReport);
    for (const listener of listeners) listener();
  });
  const first = (fits: (told: WorkerReport) => boolean) =>
    new Promise<WorkerReport>((resolve, reject) => {
      const look = () => {
        const found = all.find(fits);
        if (found === undefined) return;
        listeners.delete(look);
        resolve(found);
      };
      listeners.add(look);
      look();
      void ended.then(() =>
        reject(new Error(`The worker of ${agentType} has ended. ${complaint}`)),
      );
    });
  let count = 0;
  const say = (what: object) => child.stdin.write(`${JSON.stringify(what)}\n`);
  return {
    told: (member) => first((told) => member in told),
    send(target, text) {
      const number = ++count;
      say({ number, target, text });
      return first((told) => told.number === number);
    },
    release: () => say({ release: true }),
    freeze: () => void child.kill("SIGSTOP"),
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
