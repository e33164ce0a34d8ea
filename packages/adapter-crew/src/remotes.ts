import type { Agent, Hub } from "@waybill/agent";
import { parseJson, parseManifest, readCompact } from "@waybill/protocol";
import type { Capability } from "@waybill/protocol";
import type { Crew } from "./crew.ts";
import type { Member, Whom } from "./member.ts";
import { remoteMember } from "./members.ts";
import type { RemoteMemberOptions } from "./members.ts";

/**
 * Who is on the hub and no member: an agent by its name, with the capability in which it takes tasks,
 * or whoever the hub finds for a capability.
 */
export function remotesOn(
  agent: Agent,
  hub: Pick<Hub, "find" | "manifests">,
  options: Pick<RemoteMemberOptions, "timeoutMs" | "session"> = {},
): NonNullable<Crew["elsewhere"]> {
  return async (whom: Whom): Promise<Member | undefined> => {
    if (typeof whom !== "string") {
      const [best] = (await hub.find(whom)).fits;
      return best && remoteMember(agent, best.capability, options);
    }
    const { manifests } = await hub.manifests({ agent: whom, newest: true });
    const [newest] = manifests;
    if (newest === undefined) return undefined;
    const { capabilities } = parseManifest(parseJson(readCompact(newest.text).payload));
    const takesTasks = ({ takes }: Capability) => takes === "delegation";
    const capability = capabilities.find(takesTasks) ?? capabilities[0];
    return capability && remoteMember(agent, capability, { ...options, to: whom });
  };
}
