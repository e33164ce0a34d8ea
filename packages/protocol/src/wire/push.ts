import { WaybillError } from "../error.ts";
import { parseJson } from "../json/json.ts";
import { LIMITS } from "../limits.ts";
import { checked } from "./checked.ts";
import { readDelivery } from "./delivery.ts";
import type { Delivery } from "./delivery.ts";
import { messageCharacters } from "./frame.ts";
import { httpShapes } from "./http-shapes.ts";
import type { PushAnswer, WirePush } from "./wire-push.ts";

/** What a hub posts to the inbox of an agent that only listens. */
export interface Push {
  readonly hub: string;
  readonly agent: string;
  /** Absent if the hub asks whether deliveries for the agent may be sent here. */
  readonly deliveries: readonly Delivery[];
  /** The challenge that the agent has to echo, if it is asked. */
  readonly challenge?: string | undefined;
}

/** How much deeper the deliveries and their answer may nest than an envelope. */
const DEPTH_AROUND = 4;
/** The most deliveries of one push beside its first one. */
const CHARACTERS_AT_MOST = 8 * 1024 * 1024;

/** The body of a push to an inbox. */
export function writePush(push: Push): string {
  const wire: WirePush = { waybill: 1, ...push };
  return JSON.stringify(wire);
}

/** Reads the body of a push. Its proof says whether it comes from the hub. */
export function readPush(text: string): Push {
  const value = parseJson(text, {
    envelopeBytes: CHARACTERS_AT_MOST,
    jsonDepth: LIMITS.jsonDepth + DEPTH_AROUND,
  });
  const { hub, agent, deliveries, challenge } = checked(httpShapes().push, value, "The push");
  return {
    hub,
    agent,
    deliveries: deliveries.map((each, index) => readDelivery(each, `/deliveries/${index}`)),
    ...(challenge === undefined ? {} : { challenge }),
  };
}

/** An inbox may be anybody's address: nothing is sent there before it has echoed the challenge. */
export function checkEcho(challenge: string, { echo }: PushAnswer): void {
  if (echo === challenge) return;
  throw new WaybillError(
    401,
    "The inbox did not return the challenge in echo, so nothing is sent there.",
  );
}

/** The state of an inbox that could not be reached, or did not answer correctly. */
export interface InboxFailure {
  readonly inbox: string;
  /** In a row. */
  readonly failures: number;
  readonly at: number;
}

/** How long a hub waits between attempts to contact an inbox. */
export interface InboxWaits {
  readonly firstMs: number;
  readonly mostMs: number;
}

/**
 * When a hub may contact an inbox again: each failure doubles the delay, and a new manifest with the
 * same inbox does not reset it.
 */
export function inboxContactAt(
  last: InboxFailure | undefined,
  inbox: string,
  { firstMs, mostMs }: InboxWaits,
): number {
  if (last === undefined || last.inbox !== inbox) return -Infinity;
  return last.at + Math.min(mostMs, firstMs * 2 ** (last.failures - 1));
}

/** Reads an agent's answer to a push; an empty body is an answer too. */
export function readPushAnswer(
  text: string,
  envelopeBytes: number = LIMITS.envelopeBytes,
): PushAnswer {
  if (text.trim() === "") return {};
  const value = parseJson(text, {
    envelopeBytes: messageCharacters(envelopeBytes),
    jsonDepth: LIMITS.jsonDepth,
  });
  return checked(httpShapes().pushAnswer, value, "The answer to a push");
}
