import { WaybillError } from "../error.ts";

/** Which unknown agents a hub admits: all, those that are allowed, or those and the invited ones. */
export const NEWCOMERS = ["open", "allow-list", "invitation"] as const;
/** One of `NEWCOMERS`. */
export type Newcomers = (typeof NEWCOMERS)[number];

/** An agent whose first manifest has arrived. */
export interface Newcomer {
  readonly agent: string;
  /** The key that signed the manifest. */
  readonly kid: string;
  /** An operator has named the agent or the key. */
  readonly isAllowed: boolean;
  /** The manifest came with the proof of an invitation. The proof is checked when it is used. */
  readonly hasInvitation: boolean;
}

/** The reason why a newcomer is admitted. */
export type AdmissionWay = "open" | "allow_list" | "invitation";

/** The default policy of a hub: no agent from elsewhere is admitted without an invitation. */
export function defaultNewcomers({ isLocal }: { readonly isLocal: boolean }): Newcomers {
  return isLocal ? "open" : "invitation";
}

/** Why a newcomer is admitted; throws a 403 that says what to do if it is not. */
export function admissionOf(
  newcomers: Newcomers,
  { agent, kid, isAllowed, hasInvitation }: Newcomer,
): AdmissionWay {
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
