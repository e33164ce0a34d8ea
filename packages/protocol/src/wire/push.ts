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
  /** None where the hub asks whether deliveries for the agent are to come here. */
  readonly deliveries: readonly Delivery[];
  /** What the agent is to echo, where it is asked that. */
  readonly challenge?: string | undefined;
}

/** The deliveries and their answer lie this deep above what an envelope's limit is about. */
const DEPTH_AROUND = 4;
/** Deliveries of one push, beside its first one. */
const CHARACTERS_AT_MOST = 8 * 1024 * 1024;

/** The body of a push to an inbox. */
export function writePush(push: Push): string {
  const wire: WirePush = { waybill: 1, ...push };
  return JSON.stringify(wire);
}

/** Reads the body of a push. Whether it comes from the hub is for its proof to say. */
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

/** That an inbox could not be reached, or did not answer as it must. */
export interface InboxFailure {
  readonly inbox: string;
  /** In a row. */
  readonly failures: number;
  readonly at: number;
}

/** How long a hub waits between tries to contact an inbox. */
export interface InboxWaits {
  readonly firstMs: number;
  readonly mostMs: number;
}

/**
 * When a hub may contact an inbox again: each failure doubles the time, and a new manifest that names
 * the same inbox changes nothing about it.
 */
export function inboxContactAt(
  last: InboxFailure | undefined,
  inbox: string,
  { firstMs, mostMs }: InboxWaits,
): number {
  if (last === undefined || last.inbox !== inbox) return -Infinity;
  return last.at + Math.min(mostMs, firstMs * 2 ** (last.failures - 1));
}

/** Reads what an agent answers a push with; nothing is an answer too. */
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
