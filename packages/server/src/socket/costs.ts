import type { AgentFrame, CallName } from "@waybill/protocol/wire";

type Said = Exclude<AgentFrame["type"], "call"> | CallName;

/** The maximum cost of each frame and each call, from its own input and page size. */
export const SOCKET_COSTS: Readonly<Record<Said, string>> = {
  hello:
    "O(deliveries in the agent's inbox, and waiting handoffs that it was not considered for before): one signature is verified; each delivery is read and sent once, no faster than the agent reads; each of those handoffs is matched once. Limited per minute (attachmentsPerAgent).",
  submit:
    "O(bytes of the envelope): one signature is verified, and one commit has as many bytes. A handoff to a capability considers at most 256 agents, and checks the input against their schemas in a bounded number of steps. A repetition reads two entries. An acknowledgement of several reads each handoff that it lists, at most 64, with at most one commit for each, and two more commits. A child counts the children of its parent, at most the limit of fan-out. A member of a group, and its end, read the other members, at most as many, and their replays. The end of a parent makes one commit for each of its children. The first handoff of a delegator since the hub started counts its open handoffs, at most openHandoffs.",
  publish:
    "O(bytes of the manifest): verifies one signature for each key that it lists, compiles its schemas, and commits as many bytes. If the agent is attached, each handoff that waits for one of its capabilities is matched once.",
  manifests: "O(limit): manifests of the page, of which the last is the one that reaches 1 MiB.",
  find: "O(limit): reads the capabilities of the page, up to 1 MiB of text, ranks each by its measurements, and checks the input against their schemas in a bounded number of steps.",
  handoff:
    "O(1): one handoff is read, with its attempts, and at most 20 candidates if it waits. Envelopes that are no longer in memory are searched among the entries of the handoff.",
  taken: "O(1): one step of its handoff.",
  heartbeat: "O(1): one step of its handoff; every second one is a commit.",
  delta: "O(characters), of which there are at most 4,096: passed on to the delegator, or dropped.",
  seen: "O(1); if it makes room, O(handoffs that are offered then).",
  credit:
    "O(handoffs that are offered then): nothing if the agent had room before. Handoffs that it was considered for are not read again.",
  ping: "O(1).",
  pong: "O(1).",
};
