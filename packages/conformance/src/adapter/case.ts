import { ok } from "node:assert/strict";
import type { HandoffHandle, QuestionEvent } from "@waybill/agent";
import { WaybillError } from "@waybill/protocol";
import type { Artifact, Json, Message } from "@waybill/protocol";
import { mediaIn } from "@waybill/agent/adapter";
import type { Media, PortableWork } from "@waybill/agent/adapter";
import type { Act, Played, PlayedUsage } from "./fixture.ts";
import type { Scene } from "./scene.ts";

/** Cases by name: each states one thing that an adapter has to do. */
export type Cases = Readonly<Record<string, (scene: Scene) => Promise<void>>>;

/** One thing that has to hold between two frameworks. */
export interface Between {
  /** What each side has to be able to do by itself, by the names of the cases of its own suite. */
  readonly needs: readonly string[];
  check(scene: Scene): Promise<void>;
}

/** An agent that answers with the given output. */
export function playing(played: Played): Act {
  return async () => played;
}

/** An event that happens once, for the other side to wait for. */
export interface Moment<Value = void> {
  readonly came: Promise<Value>;
  come(value: Value): void;
}

export function moment<Value = void>(): Moment<Value> {
  const { promise, resolve } = Promise.withResolvers<Value>();
  return { came: promise, come: resolve };
}

/** Ends when the signal fires, with its reason. */
export function aborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    const fired = () => resolve(signal.reason);
    if (signal.aborted) fired();
    else signal.addEventListener("abort", fired, { once: true });
  });
}

/** A run that has started, and is stopped only by its signal, as a framework's is. */
export function holding(started: Moment, stopped: Moment): Act {
  return async ({ signal }) => {
    started.come();
    await aborted(signal);
    stopped.come();
    throw signal.reason;
  };
}

/**
 * Waits for the acceptance of a run that has started: only then may a test advance the clock by more
 * than the grace.
 */
export async function accepted(scene: Scene): Promise<void> {
  // An acceptance may be delayed, so that a quick result can stand for it.
  await scene.clock.advance(1_000);
  await scene.until("its acceptance", async () =>
    (await scene.said("receipt")).some(({ body }) => body.status === 101),
  );
}

/** The first question of a handoff that has not been answered yet. */
export async function nextQuestion(handle: HandoffHandle): Promise<QuestionEvent> {
  for await (const question of handle.questions) return question;
  throw new Error("The handoff ended without a question.");
}

/** The WaybillError with which something ends, possibly wrapped by a framework. */
export async function endingOf(ended: Promise<unknown>): Promise<WaybillError> {
  try {
    await ended;
  } catch (thrown) {
    for (let each = thrown; each instanceof Error; each = each.cause)
      if (WaybillError.is(each)) return each;
    throw new Error("The thrown error is not a WaybillError, and none caused it.", {
      cause: thrown,
    });
  }
  throw new Error("The run completed, but it should have failed.");
}

/** The counts of a usage that every framework reports. */
export function tokensOf(usage: PlayedUsage | undefined): PlayedUsage | undefined {
  if (usage === undefined) return undefined;
  const { input_tokens, output_tokens } = usage;
  return { input_tokens, output_tokens };
}

/** The media shown, in a turn or as a file that goes along. */
export function mediaSeenIn({ messages = [], artifacts = [] }: Shown): MediaSeen[] {
  return [...messages.flatMap(mediaIn), ...artifacts].map(toldOfMedia);
}

interface Shown {
  readonly messages?: readonly Message[] | undefined;
  readonly artifacts?: readonly Artifact[] | undefined;
}

/** The members of media that every framework keeps. */
export type MediaSeen = Pick<Media, "media_type" | "data">;

export function toldOfMedia({ media_type, data }: MediaSeen): MediaSeen {
  return { media_type, data };
}

/** Whether this text has reached a framework: by itself, inside other words, or as JSON. */
export function carries(work: PortableWork, text: string): void {
  const spelled = JSON.stringify(text).slice(1, -1);
  const isThere = stringsIn(work as Json).some(
    (each) => each.includes(text) || each.includes(spelled),
  );
  ok(isThere, `"${text.slice(0, 80)}" is not in what reached the framework`);
}

function stringsIn(value: Json | undefined): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(stringsIn);
}
