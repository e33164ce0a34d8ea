/// <reference types="node" />
import { readLedger } from "@waybill/hub";
import type { NewsroomModel } from "../model/model.ts";
import type { Attempted } from "../staff/imposter.ts";
import type { Seat } from "../staff/join.ts";
import { NAMES, STAFF } from "../staff/staff.ts";
import type { Name } from "../staff/staff.ts";
import type { Chronicle } from "../story/chronicle.ts";
import { Story } from "../story/story.ts";
import { Faults } from "./faults.ts";
import { HUB, startHub, watchLedger } from "./hub.ts";
import type { RunningHub } from "./hub.ts";
import { recordOf } from "./hub-record.ts";
import type { HubRecord } from "./hub-record.ts";
import { orderStory } from "./order.ts";
import type { Ordered } from "./order.ts";
import type { Answerer } from "./person.ts";
import { Processes } from "./processes.ts";

export interface Newsroom {
  readonly folder: string;
  readonly model: NewsroomModel;
  readonly answer: Answerer;
  readonly chronicle: Chronicle;
}

export interface Published extends Ordered, HubRecord {
  readonly database: string;
  readonly attempted: readonly Attempted[];
}

/** Publishes one story, from the start of the first process to the end of the last. */
export async function publishStory(newsroom: Newsroom): Promise<Published> {
  const processes = new Processes();
  const stopped = new AbortController();
  try {
    return await Promise.race([run(newsroom, processes, stopped.signal), processes.broken]);
  } finally {
    stopped.abort();
    await processes.stopAll("SIGKILL");
  }
}

async function run(
  { folder, model, answer, chronicle }: Newsroom,
  processes: Processes,
  signal: AbortSignal,
): Promise<Published> {
  const hub = await startHub(processes, folder);
  const faults = new Faults(processes, chronicle);
  const told = tellLedger(hub, signal, chronicle, faults);
  const work = async () => {
    const seat = { hub: hub.url, folder, model: { url: model.url, name: model.name } };
    await Promise.all(NAMES.map((id) => seatAt(processes, { ...seat, id })));
    const attempted = faults.all(model);
    attempted.catch(() => undefined);
    const ordered = await orderStory(hub.url, folder, answer);
    return { ...ordered, attempted: await inTime(attempted) };
  };
  const published = await Promise.race([work(), told.then(() => Promise.reject(cutOff()))]);
  await Promise.all(NAMES.map((name) => processes.kill(name, "SIGTERM")));
  const record = await recordOf(hub, published.job);
  await processes.kill(HUB, "SIGTERM");
  await told;
  return { ...published, ...record, database: hub.database };
}

async function tellLedger(
  hub: RunningHub,
  signal: AbortSignal,
  chronicle: Chronicle,
  faults: Faults,
): Promise<void> {
  const story = new Story(HUB);
  for await (const entry of readLedger(watchLedger(hub, signal))) {
    for (const event of story.take(entry)) chronicle.add(event);
    faults.see(entry);
  }
}

async function seatAt(processes: Processes, seat: Seat & { readonly id: Name }): Promise<void> {
  const file = new URL(`../staff/${STAFF[seat.id].file}`, import.meta.url);
  const child = processes.start(seat.id, file, [], { WAYBILL_SEAT: JSON.stringify(seat) });
  const isReady = new Promise<void>((resolve) => child.once("message", () => resolve()));
  await Promise.race([isReady, processes.broken]);
}

const FAULTS_WITHIN_MS = 10_000;

/** The story needs all faults: one that does not happen would be waited for in vain. */
async function inTime<Value>(faults: Promise<Value>): Promise<Value> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error("The story is over, and not all has gone wrong that was to.")),
    FAULTS_WITHIN_MS,
  );
  try {
    return await Promise.race([faults, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

function cutOff(): Error {
  return new Error(
    "The hub's ledger was followed, and the line was cut before the story was over.",
  );
}
