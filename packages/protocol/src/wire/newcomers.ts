import { WaybillError } from "../error.ts";

/** Whom a hub lets in that it does not know: anybody, those who are allowed, or these and those who are invited. */
export const NEWCOMERS = ["open", "allow-list", "invitation"] as const;
/** One of `NEWCOMERS`. */
export type Newcomers = (typeof NEWCOMERS)[number];

/** Somebody whose first manifest has come. */
export interface Newcomer {
  readonly agent: string;
  /** The key that signed the manifest. */
  readonly kid: string;
  /** An operator has named the agent or the key. */
  readonly isAllowed: boolean;
  /** The proof of an invitation came with the manifest. Whether it holds is looked at when it is used. */
  readonly hasInvitation: boolean;
}

/** What a newcomer comes in by. */
export type EntryWay = "open" | "allow_list" | "invitation";

/** What holds at a hub whose operator has not said whom to let in: nobody from elsewhere comes in unasked. */
export function defaultNewcomers({ isLocal }: { readonly isLocal: boolean }): Newcomers {
  return isLocal ? "open" : "invitation";
}

/** By what a newcomer comes in; 403, with what to do, where it does not. */
export function entryOf(
  newcomers: Newcomers,
  { agent, kid, isAllowed, hasInvitation }: Newcomer,
): EntryWay {
  if (newcomers === "open") return "open";
  if (isAllowed) return "allow_list";
  if (newcomers === "invitation" && hasInvitation) return "invitation";
  const ask = `Ask an operator of the hub to let this key in: waybill agents allow ${kid}`;
  throw new WaybillError(
    403,
    newcomers === "allow-list"
      ? `${agent} is not enrolled here, and this hub accepts only agents on its allow-list. ${ask}`
      : `${agent} is not enrolled here, and this hub requires an invitation. Ask an operator of the hub for one (waybill invite --agent ${agent}), and pass it to the agent in the environment variable WAYBILL_INVITATION. Or: ${ask}`,
  );
}
