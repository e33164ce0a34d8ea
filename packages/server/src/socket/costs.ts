import type { AgentFrame, CallName } from "@waybill/protocol/wire";

type Said = Exclude<AgentFrame["type"], "call"> | CallName;

/** The maximum cost of each frame and each call, from its own input and page size. */
export const SOCKET_COSTS: Readonly<Record<Said, string>> = {
  hello:
    "O(deliveries in the inbox of its agent, and handoffs that wait for what it offers and that it was not looked at for before): one signature, then each delivery read and sent once, no faster than it is read, and one look for each of those handoffs; so many times a minute (attachmentsPerAgent).",
  submit:
    "O(bytes of the envelope): one signature, one commit of as many bytes. To a capability: at most 256 agents looked at, and a bounded number of steps for checking the input against their schemas. A repetition: two entries read. An acknowledgement of several: one handoff read and at most one commit for each that it lists, of which there are at most 64, and two commits. A child: the children of its parent counted, at most the limit of fan-out. A member of a group, and its end: the members read, of which there are at most that many, and their replays. The end of a parent: one commit for each of its children. The first handoff of a delegator since the hub started: what it has open counted, at most openHandoffs.",
  publish:
    "O(bytes of the manifest): one signature for each key that it lists, its schemas compiled, one commit of as many bytes. Where its agent is attached, it is looked at once for each handoff that waits for what it offers.",
  manifests: "O(limit): manifests of the page, of which the last is the one that reaches 1 MiB.",
  find: "O(limit): capabilities of the page up to 1 MiB of text, each measured and ranked, and a bounded number of steps for checking the input against their schemas.",
  handoff:
    "O(1): one handoff is read, with its attempts, and at most 20 candidates if it waits. Envelopes that are no longer in memory are searched among the entries of the handoff.",
  taken: "O(1): one step of its handoff.",
  heartbeat: "O(1): one step of its handoff; every second one is a commit.",
  delta: "O(characters), of which there are at most 4,096: passed on to the delegator, or dropped.",
  seen: "O(1); where it makes room, O(handoffs that are offered).",
  credit:
    "O(handoffs that are offered): nothing where there was room before; what the agent was looked at for already is not read again.",
  ping: "O(1).",
  pong: "O(1).",
};
