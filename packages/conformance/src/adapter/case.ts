import { ok } from "node:assert/strict";
import type { HandoffHandle, QuestionEvent } from "@waybill/agent";
import { WaybillError } from "@waybill/protocol";
import type { Artifact, Json, Message } from "@waybill/protocol";
import { mediaIn } from "@waybill/agent/adapter";
import type { Media, PortableWork } from "@waybill/agent/adapter";
import type { Act, Played, PlayedUsage } from "./fixture.ts";
import type { Scene } from "./scene.ts";

/** Cases by their names: each says one thing that an adapter owes. */
export type Cases = Readonly<Record<string, (scene: Scene) => Promise<void>>>;

/** One thing that has to hold between two frameworks. */
export interface Between {
  /** What each has to be able to do by itself, as the cases of its own suite are called. */
  readonly needs: readonly string[];
  check(scene: Scene): Promise<void>;
}

/** A thing that answers with what it is told to. */
export function playing(played: Played): Act {
  return async () => played;
}

/** Something that happens once, to be waited for on the other side. */
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

/** A run that has started, and is stopped by nothing but its signal, as a framework's is. */
export function holding(started: Moment, stopped: Moment): Act {
  return async ({ signal }) => {
    started.come();
    await aborted(signal);
    stopped.come();
    throw signal.reason;
  };
}

/** A run that has started is signed for: only then may time be moved on by more than the grace for that. */
export async function accepted(scene: Scene): Promise<void> {
  // An acceptance may wait a little, so that a quick result can stand for it.
  await scene.clock.advance(1_000);
  await scene.until("its acceptance", async () =>
    (await scene.said("receipt")).some(({ body }) => body.status === 101),
  );
}

/** The first question of a handoff that has not been answered yet. */
export async function nextQuestion(handle: HandoffHandle): Promise<QuestionEvent> {
  for await (const question of handle.questions) return question;
  throw new Error("The handoff has ended, and nothing was asked.");
}

/** The WaybillError with which something ends, be it wrapped by a framework. */
export async function endingOf(ended: Promise<unknown>): Promise<WaybillError> {
  try {
    await ended;
  } catch (thrown) {
    for (let each = thrown; each instanceof Error; each = each.cause)
      if (WaybillError.is(each)) return each;
    throw new Error("What was thrown is no WaybillError, and none caused it.", { cause: thrown });
  }
  throw new Error("It ended well, and was to fail.");
}

/** Of what was counted, what every framework can count. */
export function tokensOf(usage: PlayedUsage | undefined): PlayedUsage | undefined {
  if (usage === undefined) return undefined;
  const { input_tokens, output_tokens } = usage;
  return { input_tokens, output_tokens };
}

/** What is shown besides words, be it in a turn or as a file that goes along. */
export function mediaSeenIn({ messages = [], artifacts = [] }: Shown): MediaSeen[] {
  return [...messages.flatMap(mediaIn), ...artifacts].map(toldOfMedia);
}

interface Shown {
  readonly messages?: readonly Message[] | undefined;
  readonly artifacts?: readonly Artifact[] | undefined;
}

/** Of what is shown, what every framework keeps. */
export type MediaSeen = Pick<Media, "media_type" | "data">;

export function toldOfMedia({ media_type, data }: MediaSeen): MediaSeen {
  return { media_type, data };
}

/** What reached a framework has this text in it: by itself, or in words, or spelled as JSON. */
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
