import { parseJson, WaybillError } from "@waybill/protocol";
import type { WireInvitation, WireWellKnown } from "@waybill/protocol/wire";
import { hubClient } from "./client.ts";
import type { HubClientContext } from "./client.ts";

/** An operator who hands off under a new name creates the invitation for it. */
export async function invitationFor(
  asking: HubClientContext,
  agent: string,
): Promise<string | undefined> {
  const hub = hubClient(asking);
  const { newcomers } = (await hub.get("/.well-known/waybill")) as WireWellKnown;
  if (newcomers !== "invitation") return undefined;
  const known = await hub.asStranger(`/.well-known/waybill/agents/${agent}?newest=true`);
  const { manifests } = parseJson(await known.text()) as { readonly manifests?: unknown[] };
  if (manifests !== undefined && manifests.length > 0) return undefined;
  try {
    const made = (await hub.post("/v1/invitations", {
      agent,
      expires_seconds: SECONDS,
    })) as WireInvitation;
    return made.invitation;
  } catch (error) {
    // A caller without operator rights needs an invitation from one; the enrolment error says so.
    if (WaybillError.is(error, 401) || WaybillError.is(error, 403)) return undefined;
    throw error;
  }
}

const SECONDS = 60;
