import { isAgentId, isCapabilityName, WaybillError } from "@waybill/protocol";
import type { OfferPlace } from "../store.ts";

/** Neither a capability's name nor an agent's id contains a space; a version may. */
const PLACE = /^([^ ]+) ([^ ]+) (.+)$/su;

/** The cursor of a list of offers, as one text. */
export function cursorText({ name, agent, version }: OfferPlace): string {
  return `${name} ${agent} ${version}`;
}

export function readCursor(text: string): OfferPlace {
  const [, name, agent, version] = PLACE.exec(text) ?? [];
  if (version !== undefined && isCapabilityName(name) && isAgentId(agent)) {
    return { name, agent, version };
  }
  throw new WaybillError(
    400,
    "To continue, pass the next value of the previous answer unchanged.",
    {
      at: "/after",
    },
  );
}
