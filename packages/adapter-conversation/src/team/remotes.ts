import type { Agent, Hub } from "@waybill/agent";
import { parseJson, parseManifest, readCompact } from "@waybill/protocol";
import type { Capability } from "@waybill/protocol";
import { remoteMember } from "./members.ts";
import type { RemoteMemberOptions } from "./members.ts";
import type { Member, Team } from "./team.ts";

/**
 * Agents on the hub that are not members: an agent by its name, with the capability by which it
 * converses, or the one that the hub finds for a capability.
 */
export function remotesOn(
  agent: Agent,
  hub: Pick<Hub, "find" | "manifests">,
  options: Pick<RemoteMemberOptions, "timeoutMs" | "session"> = {},
): NonNullable<Team["elsewhere"]> {
  return async (to): Promise<Member | undefined> => {
    if (typeof to !== "string") {
      const [best] = (await hub.find(to)).fits;
      return best && remoteMember(agent, best.capability, options);
    }
    const { manifests } = await hub.manifests({ agent: to, newest: true });
    const [newest] = manifests;
    if (newest === undefined) return undefined;
    const { capabilities } = parseManifest(parseJson(readCompact(newest.text).payload));
    const talks = ({ takes }: Capability) => takes === "conversation";
    const capability = capabilities.find(talks) ?? capabilities[0];
    return capability && remoteMember(agent, capability, { ...options, to });
  };
}
