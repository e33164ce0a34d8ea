import type { AgentFrame, CallName } from "@waybill/protocol/api";

type Said = Exclude<AgentFrame["type"], "call"> | CallName;

/** The most that each frame, and each call, can cost the hub: by its own input and page size alone. */
export const SOCKET_COSTS: Readonly<Record<Said, string>> = {
  hello:
    "O(deliveries in the inbox of its agent): one signature, then each delivery read and sent once, no faster than it is read, so many times a minute.",
  submit:
    "O(bytes of the envelope): one signature, one commit of as many bytes. To a capability: at most 256 agents looked at, and a bounded number of steps for checking the input against their schemas. A repetition: O(entries of its handoff). The end of a member of a group: O(members), at most the limit of fan-out.",
  publish:
    "O(bytes of the manifest): one signature for each key that it lists, its schemas compiled, one commit of as many bytes.",
  manifests: "O(limit): manifests of the page, of which the last is the one that reaches 1 MiB.",
  find: "O(limit): capabilities of the page up to 1 MiB of text, each measured and ranked, and a bounded number of steps for checking the input against their schemas.",
  handoff: "O(1): one handoff read, with its attempts.",
  taken: "O(1): one step of its handoff.",
  heartbeat: "O(1): one step of its handoff; every second one is a commit.",
  seen: "O(1).",
  credit:
    "O(handoffs that wait for the agent): read page by page until its room is full, once at a time however often it is said.",
  ping: "O(1).",
  pong: "O(1).",
};
