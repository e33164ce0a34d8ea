import type { WirePresence } from "@waybill/protocol/wire";
import { session } from "../hub/session.ts";
import { Time } from "./text.tsx";

/** Whether this is the hub itself, which has a manifest like an agent and is not connected to itself. */
export function isThisHub({ agent_id: id }: Pick<WirePresence, "agent_id">): boolean {
  return id === session.value?.hub;
}

/** Whether an agent is connected, never by colour alone. */
export function Presence({ agent }: { readonly agent: WirePresence }) {
  if (isThisHub(agent)) return <span class="mark good">● this hub</span>;
  if (agent.is_retired === true) return <span class="mark bad">– retired</span>;
  return agent.is_connected ? (
    <span class="mark good">● connected</span>
  ) : (
    <span class="mark quiet">
      ○ away
      {agent.last_seen !== null && (
        <>
          , seen <Time at={Date.parse(agent.last_seen)} />
        </>
      )}
    </span>
  );
}
