/// <reference types="node" />
import { WaybillError } from "@waybill/protocol";
import { readInvitation, signEnrolment } from "@waybill/protocol/wire";
import type { Hub } from "@waybill/protocol/wire";

/** The default invitations: those of several hubs, separated by spaces. */
const VARIABLE = "WAYBILL_INVITATION";

/**
 * The proof for a first manifest, if the agent was invited to this hub. The invitation itself is not
 * sent.
 */
export function enrolmentAt(
  { domain }: Pick<Hub, "domain">,
  manifest: string,
  given: string | undefined,
): string | undefined {
  if (given === undefined) {
    const all = (globalThis.process?.env[VARIABLE] ?? "").split(/\s+/);
    const ours = all.find((each) => readInvitation(each)?.domain === domain);
    return ours === undefined ? undefined : signEnrolment(manifest, ours);
  }
  const wanted = readInvitation(given)?.domain ?? domain;
  if (wanted === domain) return signEnrolment(manifest, given);
  throw new WaybillError(
    401,
    `The invitation is for a hub of the custody domain ${wanted}, and this hub is of ${domain}: nothing was sent. Connect to the hub that issued the invitation, or ask the operator of this hub for one.`,
  );
}
