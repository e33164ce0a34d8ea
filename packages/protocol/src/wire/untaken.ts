import type { Wanted } from "../envelope/body.ts";
import { WaybillError } from "../error.ts";

/** A handoff that no recipient takes from its delegator. */
export interface Untaken {
  readonly from: string;
  readonly to: string | Wanted;
  readonly capability: string;
  /** The named agent offers the capability, but to others. */
  readonly isOffered: boolean;
}

/**
 * Why a hub refuses such a handoff. For a capability, the answer is the same whether nobody offers it
 * or every recipient refuses this delegator: it reveals no more than a search does.
 */
export function untakenError({ from, to, capability, isOffered }: Untaken): WaybillError {
  if (typeof to !== "string") {
    return new WaybillError(
      404,
      `Nobody here has published a manifest that offers ${to.capability} to ${from}. Check its name, or start an agent that offers it first.`,
      { at: "/to" },
    );
  }
  if (!isOffered) {
    return new WaybillError(
      404,
      `${to} has published no manifest here that offers ${capability}. Check both names, or start that agent first.`,
      { at: "/to" },
    );
  }
  return new WaybillError(
    403,
    `${to} does not take ${capability} from ${from}. Ask whoever runs ${to} to name ${from} in the capability's from, or an operator of the hub to put ${from} into a group that is named there: waybill groups add <group> ${from}`,
    { at: "/to" },
  );
}
