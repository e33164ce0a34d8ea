/// <reference types="node" />
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Hub } from "@waybill/agent";
import type { ActName } from "./acts.ts";
import { answering } from "./line.ts";
import type { FromHub, ToHub } from "./line.ts";

// The same file beside this one, in the sources and in the published package.
const RECIPIENT = fileURLToPath(
  new URL(`./recipient-process${import.meta.url.slice(-3)}`, import.meta.url),
);

export interface RecipientOptions {
  readonly module: URL;
  readonly act: ActName;
  readonly folder: string;
  readonly hub: Hub;
}

/** An adapter that serves in a process of its own. */
export interface Recipient {
  /** Settles once its agent has reported this. */
  told(news: string): Promise<void>;
  /** SIGKILL. Settles once the hub has noticed. */
  kill(): Promise<void>;
}

/** Settles once it is attached to the hub. */
export async function startRecipient(options: RecipientOptions): Promise<Recipient> {
  const { module, act, folder, hub } = options;
  const child = fork(RECIPIENT, [module.href, act, folder, hub.id, hub.domain], {
    execArgv: [],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  const line = answering(hub, (message: FromHub) => {
    // A message to a process that is killed meanwhile is lost, which is no error.
    if (child.connected) child.send(message, () => undefined);
  });
  const heard = new Set<string>();
  const listeners = new Set<() => void>();
  let complaint = "";
  child.stderr!.setEncoding("utf8").on("data", (text: string) => (complaint += text));
  child.on("message", (message: ToHub) => {
    if (!("told" in message)) return line.take(message);
    heard.add(message.told);
    for (const listener of listeners) listener();
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const told = async (news: string): Promise<void> => {
    const said = new Promise<void>((resolve) => {
      const listen = () => heard.has(news) && resolve();
      listeners.add(listen);
      listen();
    });
    const gone = ended.then(() => {
      throw new Error(`The recipient's process ended before it said "${news}": ${complaint}`);
    });
    await Promise.race([said, gone]);
  };
  await told("attached");
  return {
    told,
    async kill() {
      child.kill("SIGKILL");
      await ended;
      await line.gone();
    },
  };
}
