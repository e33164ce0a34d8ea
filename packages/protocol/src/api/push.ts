import { parseJson } from "../json/json.ts";
import { LIMITS } from "../limits.ts";
import { checked } from "./checked.ts";
import { readDelivery, writeDelivery } from "./delivery.ts";
import type { Delivery, WireDelivery } from "./delivery.ts";
import { messageCharacters } from "./frame.ts";
import { httpShapes } from "./http-shapes.ts";

/** What a hub posts to the inbox of an agent that only listens. None at all asks whether it is there. */
export interface Push {
  readonly hub: string;
  readonly agent: string;
  readonly deliveries: readonly Delivery[];
}

export interface WirePush {
  readonly waybill: 1;
  readonly hub: string;
  readonly agent: string;
  readonly deliveries: readonly WireDelivery[];
}

/** What an agent may answer with: the envelopes that it would have submitted, and what it has taken. */
export interface PushAnswer {
  readonly envelopes?: readonly string[] | undefined;
  readonly taken?: readonly { readonly handoff_id: string; readonly attempt: number }[] | undefined;
}

/** The deliveries and their answer lie this deep above what an envelope's limit is about. */
const DEPTH_AROUND = 4;
/** Deliveries of one push, beside its first one. */
const CHARACTERS_AT_MOST = 8 * 1024 * 1024;

export function writePush({ hub, agent, deliveries }: Push): string {
  const push: WirePush = { waybill: 1, hub, agent, deliveries: deliveries.map(writeDelivery) };
  return JSON.stringify(push);
}

/** Reads the body of a push. Whether it comes from the hub is for its proof to say. */
export function readPush(text: string): Push {
  const value = parseJson(text, {
    envelopeBytes: CHARACTERS_AT_MOST,
    jsonDepth: LIMITS.jsonDepth + DEPTH_AROUND,
  });
  const { hub, agent, deliveries } = checked(httpShapes().push, value, "The push");
  return {
    hub,
    agent,
    deliveries: deliveries.map((each, index) => readDelivery(each, `/deliveries/${index}`)),
  };
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
