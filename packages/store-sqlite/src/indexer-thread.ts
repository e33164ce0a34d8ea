/// <reference types="node" />
// Where the index is written: SQL runs here while the hub goes on. It loads nothing that it does not
// need, because every store that is opened waits for it.
import { DatabaseSync } from "node:sqlite";
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { connect } from "./connect.ts";
import type { FromIndexer, IndexerStart, ToIndexer } from "./indexer.ts";
import { IndexWriter } from "./index-writer.ts";
import { FileFolder } from "./log/file-folder.ts";
import { readTail } from "./log/recover.ts";
import { sealSegment } from "./log/seal.ts";
import { segmentName, unsealedIn } from "./log/segment.ts";
import type { Place } from "./log/place.ts";

/** In one transaction, unless a single frame has more. */
const BYTES_AT_ONCE = 8 * 1024 * 1024;
/** How long frames are gathered if nobody waits for them. */
const GATHER_MS = 5;
/** Segments are sealed when there is nothing else to do for so long, or when there are too many. */
const IDLE_MS = 1_000;
const UNSEALED_MAX = 8;

const {
  path,
  folder: folderPath,
  busyTimeoutMs,
  bytesMax,
  place: start,
} = workerData as IndexerStart;
const port = parentPort!;
const database = new DatabaseSync(path);
connect(database, busyTimeoutMs, bytesMax);
const writer = new IndexWriter(database);
const folder = new FileFolder(folderPath);

let place = start;
let until = start;
let timer: NodeJS.Timeout | undefined;
let idle: NodeJS.Timeout | undefined;
let sealing: Promise<void> | undefined;
/** Whether segments are sealed at all. */
let isSealing = true;
/** The segment at which it was last looked for too many. */
let looked = 0;
sealWhenIdle();

port.on("message", (first: ToIndexer) => {
  let isLast = false;
  let isUrgent = false;
  for (let message: ToIndexer | undefined = first; message !== undefined; message = next()) {
    if (message === "close") isLast = true;
    else {
      if (message.until !== undefined) until = message.until;
      isUrgent ||= message.isUrgent;
    }
  }
  if (isLast || isUrgent) index();
  else timer ??= setTimeout(index, GATHER_MS);
  sealWhenIdle();
  if (isLast) void end();
});

async function end(): Promise<void> {
  clearTimeout(idle);
  await sealing;
  database.close();
  port.close();
}

/** The segments before the one that the index has reached, without the last few under load. */
function sealWhenIdle(): void {
  clearTimeout(idle);
  idle = setTimeout(() => seal(0), IDLE_MS);
  if (place.segment === looked) return;
  looked = place.segment;
  seal(UNSEALED_MAX);
}

function seal(kept: number): void {
  if (sealing !== undefined || !isSealing) return;
  const behind = unsealedIn(folder.names()).filter((number) => number < place.segment);
  const [oldest] = behind;
  if (oldest === undefined || behind.length <= kept) return;
  sealing = sealOne(oldest)
    // What is broken, or finds no room, is left as it is until the store is opened again.
    .catch(() => {
      isSealing = false;
    })
    .then(() => {
      sealing = undefined;
      if (behind.length > 1) sealWhenIdle();
    });
}

/** The state of handoffs leaves the log, so the index must be on disk before. */
async function sealOne(number: number): Promise<void> {
  const { busy, log, checkpointed } = database.prepare("PRAGMA wal_checkpoint(PASSIVE)").get()!;
  // A reader may hold back a part of it; then this is tried again.
  if (busy !== 0 || log !== checkpointed) return;
  writer.replaceBlocks(number, await sealSegment(folder, number));
  folder.remove(segmentName(number));
}

function next(): ToIndexer | undefined {
  return receiveMessageOnPort(port)?.message as ToIndexer | undefined;
}

/** Writes everything up to the last frame that is on disk. */
function index(): void {
  clearTimeout(timer);
  timer = undefined;
  try {
    while (place.frame < until.frame) {
      let reached = place;
      writer.transaction(() => (reached = writeSome()));
      place = reached;
      port.postMessage({ frame: place.frame } satisfies FromIndexer);
    }
  } catch (error) {
    // Of an error only its text is cloned between threads.
    const { message, errcode } = error as { message: string; errcode?: number };
    port.postMessage({ failure: { message, errcode } } satisfies FromIndexer);
  }
}

class Enough extends Error {}

function writeSome(): Place {
  let bytes = 0;
  let reached = place;
  try {
    readTail(
      folder,
      place,
      (frame, after) => {
        writer.write(frame, after.segment);
        reached = after;
        bytes += frame.bytes;
        if (bytes >= BYTES_AT_ONCE) throw new Enough();
      },
      until,
    );
  } catch (error) {
    if (!(error instanceof Enough)) throw error;
  }
  if (reached === place) throw new Error(`frame ${place.frame + 1} of the log can't be read`);
  return reached;
}
