import {
  conversationOf,
  historyFrom,
  inputOf,
  shownByUsers,
  withFiles,
} from "@waybill/agent/adapter";
import type { Run } from "@waybill/agent/adapter";
import type { Json, Message } from "@waybill/protocol";
import { namesIn } from "./graph.ts";
import type { Graph } from "./graph.ts";
import { toLangChain } from "./message-in.ts";

type Given = Pick<Run, "work" | "capability" | "handoffId" | "delegator">;

/** What a graph that keeps messages is talked to in, unless its input is members of its state. */
export function isConversation({ channels }: Pick<Graph, "channels">, input?: Json): boolean {
  if (!Object.hasOwn(channels, "messages")) return false;
  return !isObject(input) || !Object.keys(input).some((name) => Object.hasOwn(channels, name));
}

/** The work as the state that a graph starts from. */
export function stateOf(graph: Graph, given: Given): unknown {
  const { channels } = graph;
  const { work, capability, handoffId, delegator: by } = given;
  const { messages = [], artifacts = [] } = work;
  const takes = (name: string) => Object.hasOwn(channels, name);
  const files = takes("artifacts") && artifacts.length > 0 ? { artifacts } : {};
  const turns = (said: readonly Message[]) =>
    said.flatMap((message, index) => toLangChain(message, givenId(handoffId, index)));
  if (isConversation({ channels }, work.input)) {
    const said = conversationOf(work, capability.output_schema);
    const shown = withFiles(said, takes("artifacts") ? [] : artifacts);
    return { messages: turns(shownByUsers(shown)), ...files };
  }
  const input = inputOf(work, capability.input_schema);
  if (!isObject(input)) return input;
  if (!takes("messages")) return { ...input, ...files };
  const said = (input["messages"] ?? messages) as readonly Message[];
  const history = historyFrom(said, { by, names: namesIn(graph) });
  return { ...input, ...files, messages: turns(shownByUsers(history)) };
}

/** The id of a message that a run is given: in every attempt the same, and like no other's. */
export function givenId(handoffId: string, name: string | number): string {
  return `${handoffId}/${name}`;
}

export function isGiven(id: string | undefined, handoffId: string): boolean {
  return id?.startsWith(givenId(handoffId, "")) === true;
}

function isObject(value: unknown): value is Readonly<Record<string, Json>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
