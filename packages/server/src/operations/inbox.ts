import { httpShapes } from "@waybill/protocol/wire";
import type { Caller } from "../access/caller.ts";
import { operation } from "./operation.ts";
import type { AnyOperation } from "./operation.ts";

const WAIT_SECONDS = 20;

export function inboxOperations(): readonly AnyOperation[] {
  const { inboxQuery, inbox, inboxNews } = httpShapes();
  return [
    operation({
      id: "pollInbox",
      method: "GET",
      path: "/v1/inbox",
      summary:
        "Waits for deliveries. The cursor of a response, sent with the next poll, acknowledges its deliveries; without it they are delivered again.",
      cost: "O(bytes of the response): at most 100 of the at most 4,096 deliveries that are kept for the agent; a waiting poll costs a timer. The first poll of a process costs as much as a hello on a socket.",
      who: "agent",
      waits: true,
      query: inboxQuery,
      answer: inbox,
      refusals: [409, 503],
      async handle({ served, caller, query, signal }) {
        const { instance, credit, cursor, wait_seconds: wait = WAIT_SECONDS } = query;
        const seconds = Math.min(wait, served.limits.waitSeconds);
        const line = await served.polls.line(agentOf(caller), instance, credit);
        const polled = await line.poll(cursor, seconds * 1000, signal);
        return { cursor: polled.cursor, deliveries: polled.deliveries };
      },
    }),
    operation({
      id: "reportToInbox",
      method: "POST",
      path: "/v1/inbox",
      summary:
        "The reports of an agent that need no envelope: offers taken, heartbeats, acknowledgements, and its credit.",
      cost: "O(items of the body): one step of its handoff for each item, a limited number in each turn (itemsPerTurn); each item counts as a call. Credit costs as much as on a socket, and the first report of a process as much as a hello.",
      who: "agent",
      body: inboxNews,
      answer: undefined,
      refusals: [409, 503],
      async handle({ served, caller, body }) {
        const { instance, taken = [], heartbeats = [], seen = [], credit } = body;
        const { hub, limits, polls, tolls, turns } = served;
        const { itemsPerTurn } = limits;
        const { agent } = agentOf(caller);
        tolls.report(agent, taken.length + heartbeats.length + seen.length);
        const { attachment } = await polls.line(agentOf(caller), instance, credit);
        const inPieces = async <Item>(items: readonly Item[], take: (item: Item) => void) => {
          for (let start = 0; start < items.length; start += itemsPerTurn) {
            await turns.next(agent);
            items.slice(start, start + itemsPerTurn).forEach(take);
          }
        };
        await inPieces(taken, (each) => attachment.taken(each.handoff_id, each.attempt));
        await inPieces(heartbeats, (each) => attachment.heartbeat(each.handoff_id, each.attempt));
        await inPieces(seen, (each) => attachment.seen(each));
        await hub.operator.framesProcessed(agent);
      },
    }),
  ];
}

type AgentCaller = Extract<Caller, { type: "agent" }>;

function agentOf(caller: Caller): AgentCaller {
  // Other callers are refused.
  return caller as AgentCaller;
}
