/// <reference types="node" />
// Where commits are made: SQL and syncs run here while the hub goes on. It loads nothing that it
// does not need, because every store that is opened waits for it.
import { DatabaseSync } from "node:sqlite";
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import type { FromThread, ThreadStart, ToThread } from "./committer.ts";
import { connect } from "./connect.ts";
import { unpackChanges } from "./packed-changes.ts";
import { Writer } from "./writer.ts";
import type { Change } from "./writer.ts";

/** Two transactions keep two threads busy: one is written while the hub works on the other. */
const SHARE_AT_LEAST = 32;

const { path, busyTimeoutMs, bytesMax, head } = workerData as ThreadStart;
const port = parentPort!;
const database = new DatabaseSync(path);
connect(database, busyTimeoutMs, bytesMax);
const writer = new Writer(database, head);

port.on("message", (first: ToThread) => {
  const changes: Change[] = [];
  let isLast = false;
  // Whatever has arrived by now shares a transaction, or two.
  for (let message: ToThread | undefined = first; message !== undefined; message = next()) {
    if (message === "close") isLast = true;
    else {
      writer.head = message.head ?? writer.head;
      changes.push(...unpackChanges(message.changes));
    }
  }
  const share = Math.max(SHARE_AT_LEAST, Math.ceil(changes.length / 2));
  for (let start = 0; start < changes.length; start += share) {
    const results = writer.write(changes.slice(start, start + share)).map(transferable);
    port.postMessage({ results, head: writer.head } satisfies FromThread);
  }
  if (!isLast) return;
  database.close();
  port.close();
});

function next(): ToThread | undefined {
  return receiveMessageOnPort(port)?.message as ToThread | undefined;
}

/** Of an error only its text is cloned between threads. */
function transferable(result: ReturnType<Writer["write"]>[number]): FromThread["results"][number] {
  if ("outcome" in result) return result;
  const { message, errcode } = result.error as { message: string; errcode?: number };
  return { failure: { message, errcode } };
}
